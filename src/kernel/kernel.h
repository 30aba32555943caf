/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.h - a checked kernel, the result of the front end.
 *
 * Text or weights become an ambit__rule in five stages, one file each: lex, parse, check, unroll,
 * footprint. A rule satisfies:
 *
 *   - every expression has a type, and every conversion is an EXPR_CAST;
 *   - loops are unrolled, local arrays are split into locals, constants are folded;
 *   - a field is read at constant offsets (EXPR_READ), and each of its components is written at one
 *     offset, its target, which is mostly the cell itself;
 *   - a written component is a variable (EXPR_OUT), stored once at the end of the cell;
 *   - so is a reduction: it starts at the identity in every cell, and its value at the end of the
 *     cell is folded into the total.
 *
 * A rule is immutable, lives in one arena, and is freed as a whole.
 */
#ifndef AMBIT_KERNEL_KERNEL_H
#define AMBIT_KERNEL_KERNEL_H

#include "base/memory.h"
#include "base/text.h"
#include "grid/boundary.h"
#include "kernel/value.h"

#include <stdbool.h>
#include <stdint.h>

/* A position in the user's text. */
typedef struct ambit__place {
  int line;   /* from 1, adjusted by #line */
  int column; /* from 1, in bytes */
  int offset; /* bytes from the start of the text */
  int length; /* bytes */
} ambit__place;

typedef enum ambit__param_kind {
  PARAM_FIELD,  /* T *u, T *f[n] */
  PARAM_VALUE,  /* T k */
  PARAM_REDUCE, /* sum|min|max|fold(f, x) T *r */
  PARAM_TABLE /* table T k[n]: in the syntax tree only, since tables are not parameters of a rule */
} ambit__param_kind;

typedef enum ambit__reduce {
  REDUCE_SUM,
  REDUCE_MIN,
  REDUCE_MAX,
  REDUCE_FOLD /* a function of the user */
} ambit__reduce;

/* One offset at which a field is read. */
typedef struct ambit__read {
  int param, component;
  int offset[AMBIT_MAX_DIMS]; /* unused axes are 0 */
  bool is_tested;             /* all such expressions are */
  ambit__place place;         /* of the first read at this offset that is not tested, if any */
} ambit__read;

typedef struct ambit__param {
  const char *label; /* the user's name */
  const char *name;  /* in generated code: the same, unless that has a reserved prefix */
  ambit__param_kind kind;
  ambit_type type;
  bool is_const;                      /* T is const: never written */
  bool is_vector;                     /* declared as T *f[n] */
  int components;                     /* n of T *f[n]; else 1 */
  int head;                           /* number of its declaration, from 0: T *r[n] is n sums */
  ambit__reduce reduce;               /* for PARAM_REDUCE */
  const struct ambit__folder *folder; /* for REDUCE_FOLD */
  ambit__place place;                 /* of the name */
  int nreads;                         /* length of reads */
  /* PARAM_FIELD: distinct reads, sorted by component, then offset; the cell itself is included if
   * its old value is used */
  const ambit__read *reads;
  int low[AMBIT_MAX_DIMS];         /* reach towards lower indices along each axis, >= 0 */
  int high[AMBIT_MAX_DIMS];        /* and towards higher ones, >= 0 */
  bool reads_neighbours;           /* some read has a non-zero offset */
  bool crosses[AMBIT_MAX_DIMS][2]; /* per axis and side: some read there is not under outside() */
  const bool *writes;              /* per component: written somewhere */
  /* per component: written, and the old value is used: it is read before it is written, or not
   * written on every path */
  const bool *keeps;
  bool is_written; /* some component is */
  bool is_folded;  /* a reduction onto a field (ambit__rule_onto): `reduce` says how */
  /* The components of a reduction whose subscripts are computed; 0: they are constant. `components`
   * are then pairs, one for each statement that folds: the component, `bins` for none, and the
   * value that it gets; this one is not written if it is constant: */
  int bins;
  const struct ambit__expr *const *amounts; /* per pair; NULL: it is written */
  /* per component: the offset of the cell where it is stored; NULL: the cell itself, for all. If it
   * is a neighbour, the old value is always loaded, so `reads` has the offset too, and no other
   * read of the component */
  const int (*targets)[AMBIT_MAX_DIMS];
} ambit__param;

/* The components of its field. */
static inline int ambit__param_width(const ambit__param *p)
{
  return p->bins ? p->bins : p->components;
}

/* A parameter `table T k[n]` or `table T k[m][n]`: numbers that code is written for. */
typedef struct ambit__table {
  const char *label, *name; /* as those of a parameter */
  ambit_type type;
  int naxes;          /* subscripts: 1 or 2 */
  int64_t size[2];    /* size[1] is 1 if there is one subscript */
  int position;       /* in the user's list of parameters, from 0 */
  bool is_looked_up;  /* some subscript is computed */
  const void *values; /* size[0] * size[1] of them, of the type; NULL: not given yet */
  ambit__place place; /* of the name */
} ambit__table;

/* What is known of an expression with the values of the locals in it (locals.c). */
typedef struct ambit__facts {
  /* its operations, if it has no values of fields and no tests of place; 0: it has some, or too
   * many operations */
  int once;
  /* a bit 1 << d if it has index(d), and AMBIT__BY_GRID if it has sizes of the grid, normals or
   * tables. If there are none it has the same value in all cells */
  unsigned axes;
  bool calls, looks_up; /* functions, elements of tables */
} ambit__facts;

typedef struct ambit__local {
  const char *name; /* unique in the rule, a C identifier; the user's, with a number if needed */
  ambit_type type;
  bool is_shared; /* a value of parameters alone, made by linear.c: all cells have the same */
  /* known when the rule is complete (locals.c): */
  int sets;                        /* statements that set it */
  const struct ambit__expr *value; /* if the only one is its declaration; else NULL */
  ambit__facts facts;              /* of this value */
} ambit__local;

enum { AMBIT_MAX_FOLDER = 64 }; /* locals of a folder */

typedef enum ambit__op {
  EXPR_CONST,  /* value */
  EXPR_LOCAL,  /* index: of a local */
  EXPR_VALUE,  /* index: of a PARAM_VALUE */
  EXPR_READ,   /* index, component, offset: the value a field had before this step */
  EXPR_OUT,    /* index, component: the variable of a written component, or of a reduction */
  EXPR_INDEX,  /* index: an axis; type long */
  EXPR_EXTENT, /* index: an axis; type long */
  EXPR_STEP,   /* type long */
  EXPR_NORMAL, /* index: an axis; -1, 0 or 1; type long */
  EXPR_TABLE,  /* index: of a table; a, b: subscripts; beyond an end, the last element counts */
  EXPR_NEG,    /* a */
  EXPR_NOT,    /* !a: int */
  EXPR_COMPL,  /* ~a */
  EXPR_ADD,    /* a, b: the operands have the type of the result from here ... */
  EXPR_SUB,
  EXPR_MUL,
  EXPR_DIV, /* integers: x / 0 is 0 */
  EXPR_MOD, /* integers: x % 0 is 0 */
  EXPR_AND,
  EXPR_OR,
  EXPR_XOR, /* ... to here */
  EXPR_SHL, /* a, b: the type of a; b is taken modulo its width */
  EXPR_SHR,
  EXPR_LT, /* a, b of one type; the result is int from here ... */
  EXPR_LE,
  EXPR_GT,
  EXPR_GE,
  EXPR_EQ,
  EXPR_NE,
  EXPR_LAND,
  EXPR_LOR,  /* ... to here */
  EXPR_COND, /* a ? b : c; a is int, any non-zero value is true */
  EXPR_CAST, /* a, to type; float to integer truncates, saturates, and maps NaN to 0 */
  EXPR_CALL  /* call: arg a, b, c; all arguments have the type of the result */
} ambit__op;

/* A comparison with its operands exchanged: > for <; other operators as they are (operators.c). */
ambit__op ambit__op_mirrored(ambit__op op);

typedef struct ambit__expr {
  ambit__op op;
  ambit_type type;
  ambit__place place;
  const struct ambit__expr *a, *b, *c;
  ambit__value value; /* EXPR_CONST */
  int index;          /* local, parameter or axis */
  int component;      /* EXPR_READ, EXPR_OUT */
  /* EXPR_READ; of a look-up in a simplified rule the first two are its least and greatest values,
   * two zeros: not known */
  int offset[AMBIT_MAX_DIMS];
  ambit__call call; /* EXPR_CALL */
  bool is_outside;  /* stands for outside(offset[0], ...) */
  bool is_tested;   /* EXPR_READ: made only if outside() of the same offset is 0 */
  /* EXPR_READ of the cell itself: the read that it replaces, of a field that clamps, or NULL */
  const struct ambit__expr *clamped;
} ambit__expr;

typedef enum ambit__stmt_kind {
  STMT_LOCAL,     /* declares local `index`, with `value` or (NULL) without */
  STMT_SET_LOCAL, /* local `index` = value */
  STMT_SET_OUT,   /* variable of parameter `index`, `component` = value */
  STMT_IF         /* if (value) body else other; value is int */
} ambit__stmt_kind;

typedef struct ambit__stmt {
  ambit__stmt_kind kind;
  ambit__place place;
  int index;
  int component;
  int offset[AMBIT_MAX_DIMS]; /* STMT_SET_OUT: the target */
  const ambit__expr *value;
  const struct ambit__stmt *body, *other; /* STMT_IF: lists; NULL if empty */
  const struct ambit__stmt *next;         /* in the same list */
} ambit__stmt;

/* The function f and the identity x of a reduction fold(f, x) T *r. */
typedef struct ambit__folder {
  const char *label; /* the user's name of f */
  ambit_type type;   /* T: of the values, the result and the identity */
  ambit__value identity;
  int nlocals;                /* at most AMBIT_MAX_FOLDER; the first two are the parameters */
  const ambit__local *locals; /* nlocals of them */
  const ambit__stmt *body;    /* assigns to locals only */
  const ambit__expr *value;   /* of f, after the body */
} ambit__folder;

/* A constant that the program gives to the kernels of a context. */
typedef struct ambit__define {
  const char *name;
  ambit_type type;
  ambit__value value;
} ambit__define;

typedef struct ambit__rule {
  const char *name; /* of the function */
  const char *file; /* for messages */
  const char *text; /* the user's complete text */
  /* subscripts per field, more than max_axis; 0: no field has subscripts, and any grid with more
   * than max_axis axes is valid */
  int ndims;
  int nparams;
  ambit__param *params;
  int ntables;
  ambit__table *tables;
  int nlocals;
  ambit__local *locals;
  const ambit__stmt *body;
  int max_axis;  /* highest axis used in index() and extent(), -1 if none */
  int64_t flops; /* floating-point operations per cell, counting both sides of every branch */
  bool uses_step;
  bool uses_fma;
  bool uses_normal; /* the kernel must be applied to faces */
  bool has_normal;  /* it is, to one face: */
  int normal[AMBIT_MAX_DIMS];
  bool mixes_double; /* computes in double although all its fields are float; gives a warning */
  bool has_real;     /* `real` had a meaning: */
  ambit_type real;
  int ndefines; /* constants of the program, when it was read */
  const ambit__define *defines;
  int nkernels; /* of the text */
  const char *const *kernels;
  /* random() counts cells, and how depends on the number of axes, which neither a subscript nor the
   * caller gave: a copy for a grid is needed */
  bool wants_axes;
  const struct ambit__rule
      *written; /* the rule that this one is the same as, simplified; or NULL */
  ambit__arena arena;
} ambit__rule;

/* How a text is read. */
typedef struct ambit__reading {
  const char *file, *text; /* file names the text if it has no #line; NULL: "kernel" */
  const char *name;        /* of the kernel; NULL: the first one */
  const ambit_type *real; /* the type `real`, of reals; halves are of fields, and all else is float.
                            * NULL: there is none */
  int axes;               /* of the grid; 0: it runs on scalars; -1: not known */
  unsigned onto;          /* bit h: declaration h, `sum T *r[n]`, is one reduction onto a field */
  int ndefines;
  const ambit__define *defines;
} ambit__reading;

/* Parses and checks kernel text. On failure raises AMBIT_EKERNEL with all diagnostics (file, line,
 * column, source line, caret, cause, advice). `file` names the text if it has no #line. */
ambit_status ambit__rule_read(ambit__errors *errors, const ambit__reading *how, ambit__rule **out);
ambit__reading ambit__rule_reading(const ambit__rule *rule); /* how it was, on any grid */
/* The same for the first kernel, on any grid. */
ambit_status ambit__rule_parse(ambit__errors *errors, const char *file, const char *text,
                               ambit__rule **out);
void ambit__rule_free(ambit__rule *rule);
/* Completes a rule that has all its statements. */
void ambit__rule_note_locals(ambit__rule *rule);

/* ---- visits (visit.c) ---- */

/* What to do after a statement or an expression was seen. */
typedef enum ambit__visit {
  VISIT_INSIDE, /* go on with what is inside it */
  VISIT_PAST,   /* ... with what comes after it */
  VISIT_END
} ambit__visit;

/* Statements are seen in their order, each before its value and its lists; expressions before their
 * operands. */
typedef struct ambit__visitor {
  ambit__visit (*stmt)(void *user, const ambit__stmt *s); /* NULL: VISIT_INSIDE */
  ambit__visit (*expr)(void *user, const ambit__expr *e); /* NULL: expressions are not seen */
  void *user;
} ambit__visitor;

/* An expression (NULL: none), and a list. They return whether a function said VISIT_END. */
bool ambit__visit_expr(const ambit__visitor *v, const ambit__expr *e);
bool ambit__visit_stmts(const ambit__visitor *v, const ambit__stmt *list);

/* ---- tables (table.c) ---- */

/* A copy of a rule without the values of its tables, for a grid with so many axes (-1: any), with
 * some reductions onto fields; and giving values to a table, converted from another type. `values`
 * are as many as the table has. */
ambit_status ambit__rule_copy(ambit__errors *errors, const ambit__rule *rule, int axes,
                              unsigned onto, ambit__rule **out);
ambit_status ambit__table_set(ambit__errors *errors, ambit__rule *rule, int table,
                              const void *values, ambit_type type);
/* An element; a subscript outside the table means the nearest one. */
ambit__value ambit__table_at(const ambit__table *t, int64_t i, int64_t j);
/* Whether an expression is a known element of a table, and its value. */
bool ambit__table_element(const ambit__rule *rule, const ambit__expr *e, ambit__value *value);

/* Formats one diagnostic in the same style about a place in the rule's text, for mistakes that show
 * only in a program. Text after a newline in `message` is advice, printed below the caret. Returns
 * text to free(), or NULL. */
char *ambit__rule_message(const ambit__rule *rule, ambit__place place, const char *message);

/* The rule as canonical kernel text: equal texts compute the same. The caller frees it. */
char *ambit__rule_print(const ambit__rule *rule);

/* ---- cells where components are stored (targets.c, docs/design/0020-in-place.md) ---- */

const int *ambit__param_target(const ambit__param *p, int component); /* its offset */
bool ambit__param_spreads(const ambit__param *p, int component); /* whether it is a neighbour */
bool ambit__rule_spreads(const ambit__rule *rule);               /* whether one of any field is */

/* ---- tests of the place of a cell (tests.c) ---- */

enum { AMBIT__TEST_REACH = 16 }; /* a comparison with a place further inside divides the grid */

/* Whether an expression is one: outside() or, with `compares`, a comparison of index() with a place
 * near a face; not of a face of axis `but`, -1: of any. Sets its value in cells far from all
 * faces. */
bool ambit__expr_is_test(const ambit__expr *e, bool compares, int but, bool *value);
/* Whether a rule has any. All of them have that value in cells at least `low` cells above the low
 * faces and `high` below the high ones. Both start at 0. */
bool ambit__rule_tests(const ambit__rule *rule, bool compares, int low[AMBIT_MAX_DIMS],
                       int high[AMBIT_MAX_DIMS]);

/* ---- cells of one colour (red_black.c) ---- */

/* Whether a rule writes a field only in cells of one colour: the sum of their indices along some
 * axes (bit d: axis d) is even in all of them, or odd in all. */
bool ambit__rule_colour(const ambit__rule *rule, int param, unsigned *axes);

/* ---- joined rules (join.c) ---- */

/* A rule that computes in a cell what n rules compute one after the other. Parameter i of rule k is
 * parameter param[k][i] of it; several may be one, if they have the same kind, type and number of
 * components. Tables have values. No rule reads at neighbours what another one writes, and no
 * component is stored at two offsets. */
ambit_status ambit__rule_join(ambit__errors *errors, int n, const ambit__rule *const *rules,
                              const int (*param)[AMBIT_MAX_PARAMS], ambit__rule **out);

/* ---- rules on narrow integers (simplify.c) ---- */

/* A rule that computes the same, bit for bit, in a form that does not depend on spelling: integers
 * instead of reals where these are exact, no conditions, minima and maxima in one form. *out is
 * NULL if a field is neither of bytes nor of shorts, or if the rule is too large; else it refers to
 * `rule`, which must stay. */
ambit_status ambit__rule_simplify(ambit__errors *errors, const ambit__rule *rule,
                                  ambit__rule **out);

/* ---- rules in normal form (normal.c, docs/design/0024-rule.md) ---- */

/* A rule that computes the same in a form that depends less on spelling: tests of place in one form
 * (places.c), and out of strict mode, sums of neighbours as linear forms (linear.c). `extent`: no
 * axis of the grid is longer. *out is NULL if nothing changes; else it refers to `rule`, which must
 * stay. */
ambit_status ambit__rule_normal(ambit__errors *errors, const ambit__rule *rule, int64_t extent,
                                bool strict, ambit__rule **out);

/* ---- values that neighbours have in common (repeats.c, docs/design/0035-repeats.md) ---- */

/* Cells, at most, to those whose values a cell reads. */
enum { AMBIT__REPEATS_MARGIN = 16 };

/* A rule as two: `values` stores those that are costly in a field, parameter `param` of both; in
 * `rest`, which has the results, cells read them at offsets of up to `low` and `high` along the
 * last two axes. */
typedef struct ambit__repeats {
  const ambit__rule *values, *rest;
  int param, n; /* the field, its components; n 0: the rule stays one */
  int of;       /* such values that the rule computes in a cell */
  int low[AMBIT_MAX_DIMS], high[AMBIT_MAX_DIMS];
  ambit_type type; /* of the field */
  double left;     /* the share of operations that is left */
  ambit__rule *made[2][2];
} ambit__repeats;

typedef struct ambit__repeats_wish {
  int ndims, axes; /* of a grid; the last ones, along which values move */
  bool strict;
  bool counts; /* no rules are made */
} ambit__repeats_wish;

/* The rules refer to `rule`, which must stay. */
ambit_status ambit__rule_repeats(ambit__errors *errors, const ambit__rule *rule,
                                 const ambit__repeats_wish *how, ambit__repeats *out);
void ambit__repeats_free(ambit__repeats *c);

/* ---- values at faces (faces.c) ---- */

/* What a read of a component through a face returns. */
typedef struct ambit__face_value {
  /* AMBIT_NONE: the mirror; AMBIT_DIRICHLET, AMBIT_NEUMANN, AMBIT_CONSTANT: by a value */
  ambit_boundary kind;
  int value; /* among those of ambit__faced; AMBIT_CONSTANT and -1: ghost cells have it */
  int from;  /* the component that the mirror shows */
} ambit__face_value;

typedef struct ambit__face_values {
  ambit__face_value at[AMBIT_MAX_DIMS][2]; /* by axis and side */
} ambit__face_values;

/* A value: a parameter that the rule gets after its own. */
typedef struct ambit__faced_value {
  bool is_field;
  ambit_type type;
  int components; /* of a field: 1, or as many as the field that is read */
  unsigned lacks; /* of a field: a bit 1 << d for each axis along which it has one cell, 0 */
  const char *label;
} ambit__faced_value;

typedef struct ambit__faced {
  int ndims;
  const ambit__face_values *faces[AMBIT_MAX_PARAMS]; /* by component; NULL: as ghost cells are */
  int nvalues;
  ambit__faced_value values[AMBIT_MAX_PARAMS];
} ambit__faced;

/* A rule whose reads through faces have these values. It refers to `rule`, which must stay. No read
 * goes further beyond a face than the grid is wide. */
ambit_status ambit__rule_face(ambit__errors *errors, const ambit__rule *rule,
                              const ambit__faced *how, ambit__rule **out);

/* ---- axes in another order (turn.c) ---- */

/* Whether a rule has a copy in which axis turn - 1 of a grid comes last (ambit__turned_axis); and
 * that copy, which refers to `rule`, which must stay. */
bool ambit__rule_turns(const ambit__rule *rule);
ambit_status ambit__rule_turn(ambit__errors *errors, const ambit__rule *rule, int turn, int ndims,
                              ambit__rule **out);

/* ---- sparse grids (sparse.c) ---- */

/* Activity as fields of an integer type that are 1 in active cells: additional parameters of a
 * rule, named by numbers. A view is such a field with the boundaries of some components of
 * parameters, or for outside(), with 0 beyond the faces of the grid. */
enum { AMBIT__OUTSIDE };

/* What surrounds the cells of a sparse grid, for a rule. */
typedef struct ambit__surroundings {
  ambit_type type;       /* of activity */
  const ambit__box *box; /* the grid */
  int nviews;            /* with that of outside(), number AMBIT__OUTSIDE */
  /* by parameter and component: the view of clamped reads; AMBIT__OUTSIDE: they do not clamp. NULL:
   * none does */
  const int *view[AMBIT_MAX_PARAMS];
  /* by parameter, and with `special` component: of fields that are antisymmetric at a face; else
   * NULL */
  const ambit__boundaries *mirrors[AMBIT_MAX_PARAMS];
  bool special[AMBIT_MAX_PARAMS];
} ambit__surroundings;

/* The same rule for devices that know nothing of activity and signs. outside(o) tests the activity
 * at o. A read at o of a component with a view reads the cell itself if the activity at o is 0. A
 * read beyond an antisymmetric face changes its sign. Sets param[v] to the parameter for view v, or
 * -1 if it is not used. *out is NULL if nothing changes; else it refers to `rule`, which must stay.
 */
ambit_status ambit__rule_sparse(ambit__errors *errors, const ambit__rule *rule,
                                const ambit__surroundings *around, int *param, ambit__rule **out);

/* ---- reductions (reduce.c) ---- */

/* The identity of a reduction. */
ambit__value ambit__reduce_identity(const ambit__param *q);
bool ambit__rule_reduces(const ambit__rule *rule); /* whether a parameter is one */
/* Folds two results. A NaN stays in a minimum or maximum; integer sums wrap. */
ambit__value ambit__reduce_fold(const ambit__param *q, ambit__value a, ambit__value b);
/* Makes a reduction of a rule a field that is written: cells store their values, and the caller
 * folds them. */
ambit_status ambit__rule_onto(ambit__errors *errors, ambit__rule *rule, int param);
/* "sum", "min", "max" or "fold". */
const char *ambit__reduce_name(ambit__reduce op);

/* ---- reductions by a function of the user (folder.c, folder_laws.c) ---- */

ambit__value ambit__folder_call(const ambit__folder *f, ambit__value a, ambit__value b);
/* Whether two folders have the same text and identity. */
bool ambit__folder_same(const ambit__folder *a, const ambit__folder *b);
/* Tries the laws that make a result independent of the order for some values of the type. Returns
 * true if they hold; else prints the two sides of one that does not. 0 and -0 are the same value
 * here. */
bool ambit__folder_lawful(const ambit__folder *f, ambit__text *broken);

/* ---- expressions (evaluate.c) ---- */

/* Evaluates expressions and statements: `leaf` has the values of parameters, tables and places,
 * `set` the variables of written components. */
typedef struct ambit__evaluator {
  ambit__value *locals;
  bool both; /* evaluates both sides of && and ||, as generated code does */
  ambit__value (*leaf)(const struct ambit__evaluator *v, const ambit__expr *e);
  void (*set)(const struct ambit__evaluator *v, const ambit__stmt *s, ambit__value value);
  void *user;
} ambit__evaluator;
ambit__value ambit__evaluate(const ambit__evaluator *v, const ambit__expr *e);
/* The value of an operation, from those of its operands. */
ambit__value ambit__operation_value(const ambit__expr *e, const ambit__value x[3]);
void ambit__evaluate_all(const ambit__evaluator *v, const ambit__stmt *s);

/* ---- weights (weights.c) and the catalogue (catalogue.c) ---- */

/* Kernel text `void name(const T *u, T *v)` for a weighted sum. The caller frees it. */
ambit_status ambit__weights_text(ambit__errors *errors, const char *name, ambit_type type,
                                 const ambit_weights *w, char **text);

/* Finds a catalogue entry. The caller frees w->weights. An unknown name raises AMBIT_EINVAL with
 * the nearest names. */
ambit_status ambit__catalogue_find(ambit__errors *errors, const char *name, ambit_weights *w);
/* The i-th fixed name; NULL past the end. Families (star<D>d<R>...) are not listed. */
const char *ambit__catalogue_name(int i);

/* Whether the rule is a pure weighted sum `v = sum w_i * u[offset_i]` of one field, with plain
 * parameters; if so, returns its taps. With `reduces` there may be reductions, which do not count.
 */
typedef struct ambit__tap {
  int offset[AMBIT_MAX_DIMS];
  double weight;
  const ambit__expr *factor; /* of the weight: a parameter, or a shared local; NULL: 1 */
} ambit__tap;
typedef struct ambit__sum {
  int from, to; /* the fields */
  int n;        /* taps */
  bool starved; /* memory ran out, so that nothing is known */
} ambit__sum;
bool ambit__rule_sum(const ambit__rule *rule, bool reduces, ambit__tap *taps, int most,
                     ambit__sum *sum);
bool ambit__taps_are_numbers(const ambit__tap *taps, int n);
/* The same without parameters and factors. */
bool ambit__rule_taps(const ambit__rule *rule, ambit__tap *taps, int most, int *count);

#endif
