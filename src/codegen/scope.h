/* SPDX-License-Identifier: BSD-3-Clause */
/* scope.h - writes the body of a rule, statements and expressions, in any dialect.
 *
 * The rule has the computation; the strategy decides where values are stored. A scope holds the
 * strategy's functions for writing accesses, such as a read of field 2 at offset (-1,0). Names from
 * the user's text get a suffix (see the name functions), so that they cannot clash with others.
 */
#ifndef AMBIT_CODEGEN_SCOPE_H
#define AMBIT_CODEGEN_SCOPE_H

#include "codegen/dialect.h"
#include "codegen/writer.h"

typedef struct ambit__scope ambit__scope;
struct ambit__scope {
  const ambit__rule *rule;
  const ambit__dialect *dialect;
  /* Prints an access to memory: the value of a field before the step, at e->offset. */
  void (*read)(const ambit__scope *s, ambit__text *t, const ambit__expr *e);
  const char *step;   /* an expression for step() */
  const char *inside; /* a variable: not 0 if the cell is far from all faces; NULL: there is none */
  int along;          /* an axis, from 1, whose faces that does not hold for; 0: none */
  bool compares;      /* it holds for comparisons of index() too, not only for outside() */
  /* Hooks, or NULL. `instead` may print other text for an expression, and returns whether it did;
   * `set` writes code after a STMT_SET_OUT. */
  bool (*instead)(const ambit__scope *s, ambit__text *t, const ambit__expr *e);
  void (*set)(const ambit__scope *s, ambit__writer *w, const ambit__stmt *st);
  bool (*skip)(const ambit__scope *s, const ambit__stmt *st); /* leaves out a statement */
  const struct ambit__hoists *hoists; /* parts of the rule that are variables; NULL: none are */
  int row;                            /* of a block of rows: the one whose shared parts they are */
  struct ambit__narrow *narrow; /* narrow types of locals and operations; NULL: those of the rule */
  bool flat;        /* conditions become selections where both sides are cheap: codegen/flat.h */
  bool selects;     /* the same where both are light, on GPUs, */
  bool registers;   /* where `read` prints registers */
  bool relaxed;     /* terms of sums with the constant factor 0 are left out */
  bool partial;     /* long sums are added up in parts: codegen/partials.h */
  bool own_calls;   /* functions of prelude/math.h are called where there are any */
  const void *user; /* private to the strategy */
};

/* "x_", the variable of a local x. */
void ambit__name_local(const ambit__scope *s, ambit__text *t, int local);

/* "f32": what ends the names of a type's functions. */
const char *ambit__type_suffix(ambit_type type);

/* "k_1f2e3d4c": the array of a table, by its values: several rules may be in one file. */
void ambit__name_table(ambit__text *t, const ambit__table *table);
/* The arrays of tables that a rule looks up, except those that an earlier rule of the file has. */
void ambit__emit_tables(const ambit__dialect *d, ambit__text *t, const ambit__rule *rule,
                        const ambit__rule *const *earlier, int nearlier);

void ambit__emit_expr(const ambit__scope *s, ambit__text *t, const ambit__expr *e);
/* The only term of a sum of two that counts in relaxed code; NULL: both do, or it is no sum. */
const ambit__expr *ambit__emit_only_term(const ambit__scope *s, const ambit__expr *e);
void ambit__emit_constant(const ambit__dialect *d, ambit__text *t, ambit_type type, ambit__value v);
/* A list of statements, one per line; a comment marks each new line of the user's text. */
void ambit__emit_stmts(const ambit__scope *s, ambit__writer *w, const ambit__stmt *list);

/* The statement that folds b into a, which is of a type that may be wider than that of the
 * reduction. */
void ambit__emit_fold(const ambit__dialect *d, ambit__text *t, const ambit__param *q,
                      ambit_type type, const char *a, const char *b);

/* On GPUs: the function that folds the value of a cell, or with `join` another total, into a total.
 */
void ambit__print_fold_name(ambit__text *t, const ambit__param *q, bool join);

/* folders.c: the functions of reductions, r_fold for a parameter r. */
void ambit__emit_folders(const ambit__dialect *d, ambit__writer *w, const ambit__rule *rule,
                         bool strict);

#endif
