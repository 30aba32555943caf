/* kernel.h - a checked kernel: what the front end hands to everyone else.
 *
 * Text or weights become an ambit__rule in five stages, a file each: lex, parse, check, unroll,
 * footprint. What comes out is small and closed:
 *
 *   - every expression has a type, and every conversion is an EXPR_CAST;
 *   - loops are unrolled, local arrays are split into locals, constants are folded;
 *   - a field is read at constant offsets (EXPR_READ) and written at the cell itself only;
 *   - a written component is a variable (EXPR_OUT) that is stored once, at the end of the cell;
 *   - so is a reduction: it starts at the identity in every cell, and what it holds at the end of
 *     the cell is folded into the total.
 *
 * A rule is immutable once made, lives in one arena, and is freed as a whole.
 */
#ifndef AMBIT_KERNEL_KERNEL_H
#define AMBIT_KERNEL_KERNEL_H

#include "base/memory.h"
#include "kernel/value.h"

#include <stdbool.h>
#include <stdint.h>

/* Where something stands in the user's text. */
typedef struct ambit__place {
  int line;   /* from 1, as #line says */
  int column; /* from 1, bytes */
  int offset; /* bytes from the start of the text */
  int length; /* bytes */
} ambit__place;

typedef enum ambit__param_kind {
  PARAM_FIELD, /* T *u, T *f[n] */
  PARAM_VALUE, /* T k */
  PARAM_REDUCE /* sum|min|max T *r */
} ambit__param_kind;

typedef enum ambit__reduce { REDUCE_SUM, REDUCE_MIN, REDUCE_MAX } ambit__reduce;

/* One offset at which a field is read. */
typedef struct ambit__read {
  int component;
  int offset[AMBIT_MAX_DIMS]; /* unused axes are 0 */
  ambit__place place;         /* of the first read at this offset */
} ambit__read;

typedef struct ambit__param {
  const char *name;
  ambit__param_kind kind;
  ambit_type type;
  bool is_const;        /* T is const: never written */
  bool is_vector;       /* declared as T *f[n] */
  int components;       /* n of T *f[n]; 1 otherwise */
  ambit__reduce reduce; /* PARAM_REDUCE */
  ambit__place place;   /* of the name */
  int nreads;           /* length of reads: distinct, sorted by component, then offset */
  const ambit__read
      *reads; /* PARAM_FIELD: every cell read, the cell itself too if its old value counts */
  int low[AMBIT_MAX_DIMS];  /* how far the reads reach back along each axis, >= 0 */
  int high[AMBIT_MAX_DIMS]; /* and forward, >= 0 */
  bool reads_neighbours;    /* some read has a non-zero offset */
  const bool *writes;       /* per component: written somewhere */
  const bool *keeps; /* per component: written, and the old value counts: it is read before it is
                                written, or not written on every path */
  bool is_written;   /* some component is */
} ambit__param;

typedef struct ambit__local {
  const char
      *name; /* unique in the rule, a valid C identifier; the user's, with a number if need be */
  ambit_type type;
} ambit__local;

typedef enum ambit__op {
  EXPR_CONST,  /* value */
  EXPR_LOCAL,  /* index: of a local */
  EXPR_VALUE,  /* index: of a PARAM_VALUE */
  EXPR_READ,   /* index, component, offset: the value a field had before this step */
  EXPR_OUT,    /* index, component: the variable of a written component, or of a reduction */
  EXPR_INDEX,  /* index: an axis; type long */
  EXPR_EXTENT, /* index: an axis; type long */
  EXPR_STEP,   /* type long */
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
  EXPR_SHL, /* a, b: the type of a; b counts modulo its width */
  EXPR_SHR,
  EXPR_LT, /* a, b of one type; the result is int from here ... */
  EXPR_LE,
  EXPR_GT,
  EXPR_GE,
  EXPR_EQ,
  EXPR_NE,
  EXPR_LAND,
  EXPR_LOR,  /* ... to here */
  EXPR_COND, /* a ? b : c; a is int (any non-zero counts) */
  EXPR_CAST, /* a, to type; float to integer cuts, saturates, and makes NaN 0 */
  EXPR_CALL  /* call: arg a, b, c; all arguments have the type of the result */
} ambit__op;

typedef struct ambit__expr {
  ambit__op op;
  ambit_type type;
  ambit__place place;
  const struct ambit__expr *a, *b, *c;
  ambit__value value;         /* EXPR_CONST */
  int index;                  /* local, parameter or axis */
  int component;              /* EXPR_READ, EXPR_OUT */
  int offset[AMBIT_MAX_DIMS]; /* EXPR_READ */
  ambit__call call;           /* EXPR_CALL */
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
  const ambit__expr *value;
  const struct ambit__stmt *body, *other; /* STMT_IF: lists; NULL when empty */
  const struct ambit__stmt *next;         /* in the list this stands in */
} ambit__stmt;

typedef struct ambit__rule {
  const char *name; /* of the function */
  const char *file; /* for messages */
  const char *text; /* the user's text, whole */
  int ndims; /* subscripts per field; 0: none has any, so any grid with more than max_axis axes will
                do. If not 0, it is more than max_axis. */
  int nparams;
  ambit__param *params;
  int nlocals;
  ambit__local *locals;
  const ambit__stmt *body;
  int max_axis;  /* highest axis asked of index() and extent(), -1 if none */
  int64_t flops; /* arithmetic operations per cell, floating point, both sides of every branch */
  bool uses_step;
  bool mixes_double; /* computes in double though all its fields are float: worth a warning */
  ambit__arena arena;
} ambit__rule;

/* Parses and checks kernel text. On failure raises AMBIT_EKERNEL with every message (file, line, column, the line itself,
 * caret, cause, advice). `file` names the text when it has no #line of its own. */
ambit_status ambit__rule_parse(ambit__errors *errors, const char *file, const char *text,
                               ambit__rule **out);
void ambit__rule_free(ambit__rule *rule);

/* Writes one message in the same style about a place in the rule's text: for mistakes that only the program shows.
 * What follows a newline in `message` is advice, and stands below the caret. Returns text to free(), or NULL. */
char *ambit__rule_message(const ambit__rule *rule, ambit__place place, const char *message);

/* The rule again as canonical kernel text: equal texts compute the same. Free it. */
char *ambit__rule_print(const ambit__rule *rule);

/* ---- reductions (reduce.c) ---- */

/* What a reduction of values of a type starts from. */
ambit__value ambit__reduce_identity(ambit__reduce op, ambit_type type);
/* Two results made one: doubles if `real`, int64_t otherwise. NaN loses; sums of integers wrap. */
ambit__value ambit__reduce_fold(ambit__reduce op, bool real, ambit__value a, ambit__value b);

/* ---- weights (weights.c) and the catalogue (catalogue.c) ---- */

/* Kernel text `void name(const T *u, T *v)` for a weighted sum. Free it. */
ambit_status ambit__weights_text(ambit__errors *errors, const char *name, ambit_type type,
                                 const ambit_weights *w, char **text);

/* The entry of the catalogue called `name`; free w->weights, which is owned. AMBIT_EINVAL with the nearest names when there
 * is none. */
ambit_status ambit__catalogue_find(ambit__errors *errors, const char *name, ambit_weights *w);
/* The i-th fixed name, or NULL past the end; families (star<D>d<R>...) are not listed. */
const char *ambit__catalogue_name(int i);

/* If the rule is a pure weighted sum `v = sum w_i * u[offset_i]` of one field, that sum; else false. */
typedef struct ambit__tap {
  int offset[AMBIT_MAX_DIMS];
  double weight;
} ambit__tap;
bool ambit__rule_taps(const ambit__rule *rule, ambit__tap *taps, int most, int *count);

#endif
