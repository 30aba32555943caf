/* scope.h - writing the body of a rule: statements and expressions, in any dialect.
 *
 * The tree says what is computed; where values live is the strategy's business. A scope is the
 * strategy's answer to "how do I write a read of field 2 at offset (-1,0)?". Names that come from
 * the user's text get a suffix (see name functions), so that they can never mean anything else.
 */
#ifndef AMBIT_CODEGEN_SCOPE_H
#define AMBIT_CODEGEN_SCOPE_H

#include "codegen/dialect.h"
#include "codegen/writer.h"

typedef struct ambit__scope ambit__scope;
struct ambit__scope {
  const ambit__rule *rule;
  const ambit__dialect *dialect;
  /* Prints a place in memory: the value of a field before the step, at e->offset. */
  void (*read)(const ambit__scope *s, ambit__text *t, const ambit__expr *e);
  void (*index)(const ambit__scope *s, ambit__text *t, int axis);
  void (*extent)(const ambit__scope *s, ambit__text *t, int axis);
  const char *step; /* an expression for step() */
  /* For those who watch the values; NULL: nobody does. `use` prints EXPR_VALUE and EXPR_OUT in the place of their names;
   * `set` writes what follows a STMT_SET_OUT. */
  void (*use)(const ambit__scope *s, ambit__text *t, const ambit__expr *e);
  void (*set)(const ambit__scope *s, ambit__writer *w, const ambit__stmt *st);
  const void *user; /* the strategy's own */
};

/* The one name of things that have one: x_ for a local x, k_v for a plain parameter k, v_out or
 * v_out3 for the variable of a written component. */
void ambit__name_local(const ambit__scope *s, ambit__text *t, int local);
void ambit__name_value(const ambit__scope *s, ambit__text *t, int param);
void ambit__name_out(const ambit__scope *s, ambit__text *t, int param, int component);

void ambit__emit_expr(const ambit__scope *s, ambit__text *t, const ambit__expr *e);
void ambit__emit_constant(const ambit__dialect *d, ambit__text *t, ambit_type type, ambit__value v);
/* A list of statements, each on its line; where a new line of the user's text begins, a comment says so. */
void ambit__emit_stmts(const ambit__scope *s, ambit__writer *w, const ambit__stmt *list);

/* The identity of a reduction, and `a` op= b with the operator of the language. */
void ambit__emit_identity(const ambit__scope *s, ambit__text *t, ambit__reduce op, ambit_type type);
void ambit__emit_fold(const ambit__scope *s, ambit__text *t, ambit__reduce op, ambit_type type,
                      const char *a, const char *b);

#endif
