/* SPDX-License-Identifier: BSD-3-Clause */
/* nest.h - a loop nest as data: how a machine computes a group.
 *
 * A nest is a tree of nodes. Builders make it (cells.c), passes change it, and one printer writes
 * it (print.c), in a language that is a table (codegen/dialect.h).
 *
 * The names in a nest are the same in every language:
 *
 *   u_mem, u_o    memory of a field, and the distance from there to cell 0, 0, ...
 *   u_s0, u_c     its stride along axis 0, and between components
 *   u_at          this cell of it; u_at[2 * u_s0 - 1] is a neighbour
 *   k_v, r_out    a value; the result of a cell for a reduction; v_out of a written component
 *   lo0, hi0      the box to compute, local; y0 runs from one to the other
 *   i0, extent0   the index of a cell, and the extent of the grid
 *
 * On GPUs the first of them are parameters of a kernel; in C, variables made from the call.
 *
 * Formulas, the integers in bounds and conditions, are texts that every language reads alike.
 */
#ifndef AMBIT_NEST_NEST_H
#define AMBIT_NEST_NEST_H

#include "codegen/hoist.h"
#include "nest/group.h"

/* A component of a field at an offset from this cell. */
typedef struct ambit__access {
  int param, component;
  const int *offset; /* ndims */
} ambit__access;

typedef enum ambit__node_kind {
  NODE_LOOP,   /* name = from; name < below; in steps of 1, or as `how` says: body */
  NODE_IF,     /* if (value) body, else other */
  NODE_LET,    /* declares name, of a type, with a value, a load, an identity, or nothing */
  NODE_STORE,  /* the variable of a written component goes to memory */
  NODE_RULE,   /* the statements of the rule */
  NODE_SHARED, /* declares what all cells share: values, and in C the operators of reductions */
  NODE_FOLD,   /* name = name and value, by the operator of a reduction */
  NODE_DO      /* a statement: value */
} ambit__node_kind;

typedef enum ambit__loop_kind {
  LOOP_SERIAL,
  LOOP_VECTOR, /* its turns are independent: compilers make vectors of them */
  LOOP_LAUNCH  /* shared by the blocks and threads of a launch, if there are any */
} ambit__loop_kind;

typedef enum ambit__let_kind {
  LET_VALUE,   /* a formula, or nothing if `value` is NULL */
  LET_LOAD,    /* the value at `access` */
  LET_IDENTITY /* of the reduction `access.param` */
} ambit__let_kind;

typedef struct ambit__node {
  ambit__node_kind kind;
  const char *type, *name;  /* LOOP, LET */
  const char *value;        /* IF, LET, DO, FOLD: a formula */
  ambit__let_kind let;      /* LET */
  const char *from, *below; /* LOOP */
  ambit__loop_kind how;     /* LOOP */
  int along, threads;       /* LOOP_LAUNCH: x, y or z, and the threads of a block along it */
  bool rolled;              /* LOOP: compilers should not unroll it */
  bool folds;               /* LOOP_VECTOR: its turns fold reductions into r_part */
  ambit__access access;     /* LET, STORE, FOLD */
  ambit_type wide;          /* FOLD: the type in which it is done */
  int inside;               /* RULE: tests of place are -1: computed; 0, 1: as this says */
  struct ambit__node *body, *other, *next;
} ambit__node;

enum { AMBIT__NEST_DEPTH = 32 }; /* most nodes inside each other */

typedef struct ambit__nest {
  const ambit__group *group;
  const ambit__dialect *dialect;
  const ambit__rule *rule; /* of the group's only step */
  const ambit__binding *bind;
  const char *integer;  /* the 64-bit integer type */
  ambit__hoists hoists; /* values that all cells share */
  const int *unit;      /* on a GPU and a sparse grid: rows of a unit; NULL: cells have one */
  int row;              /* of a unit: the one that is being written */
  bool loads_first; /* the reads of a cell are variables u_r0, u_r1, ...: NODE_RULE uses those */
  ambit__node *first;
  ambit__node **end[AMBIT__NEST_DEPTH]; /* where the next node goes, per level that is open */
  ambit__node *opened[AMBIT__NEST_DEPTH];
  int level;
  bool failed; /* no memory */
  ambit__arena arena;
} ambit__nest;

void ambit__nest_begin(ambit__nest *n, const ambit__group *g, const ambit__dialect *d);
void ambit__nest_free(ambit__nest *n);

/* ---- make.c: appends a node ---- */

/* A formula or name, kept as long as the nest. */
const char *ambit__nest_text(ambit__nest *n, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
void ambit__nest_add(ambit__nest *n, ambit__node node);
void ambit__nest_let(ambit__nest *n, const char *type, const char *name, const char *value);
void ambit__nest_do(ambit__nest *n, const char *statement);
/* Nodes that follow are inside the loop or condition, until close. `otherwise` turns to the other
 * side of a condition. */
void ambit__nest_open(ambit__nest *n, ambit__node node);
void ambit__nest_otherwise(ambit__nest *n);
void ambit__nest_close(ambit__nest *n);

/* ---- properties of parameters ---- */

static inline const ambit__param *ambit__nest_param(const ambit__nest *n, int i)
{
  return &n->rule->params[i];
}

static inline bool ambit__nest_is_field(const ambit__nest *n, int i)
{
  return ambit__nest_param(n, i)->kind == PARAM_FIELD && n->bind[i].is_field;
}

static inline bool ambit__nest_is_reduction(const ambit__nest *n, int i)
{
  return ambit__nest_param(n, i)->kind == PARAM_REDUCE;
}

static inline const char *ambit__nest_type(const ambit__nest *n, int i)
{
  return n->dialect->types[ambit__nest_param(n, i)->type];
}

/* ---- cell.c: the pieces of a cell ---- */

void ambit__nest_let_integer(ambit__nest *n, const char *name, const char *value); /* const */
/* "const long u_m1 = (y1 < 1 ? extent1 - 1 : -1);" for every offset along the last axis at which a
 * parameter bound `wraps_rows` is read: the distance from the cell at y1 to that neighbour. */
void ambit__nest_let_wraps(ambit__nest *n);
/* "const float *u_at = u_mem + (u_o + y0 * u_s0 + y1);" for every field, and the indices i0, ... */
void ambit__nest_let_places(ambit__nest *n);
/* "const float u_r0 = u_at[-1];" for every read, if loads come first: compilers do not move them
 * out of branches. */
void ambit__nest_let_loads(ambit__nest *n);
/* "float v_out = v_at[0];" for every written component and reduction, and "v_at[0] = v_out;". */
void ambit__nest_let_outs(ambit__nest *n);
void ambit__nest_let_results(ambit__nest *n); /* of reductions alone */
void ambit__nest_store_outs(ambit__nest *n);
const char *ambit__nest_name_out(ambit__nest *n, int param, int component);
void ambit__nest_let_identity(ambit__nest *n, int param, const char *type, const char *name);

/* ---- cells.c: one cell after the other ---- */

/* In C, on any number of axes: the nest that a person would write. */
void ambit__nest_cells(ambit__nest *n);
/* On a GPU: the loops of a thread, in blocks of threads[0] x threads[1]. With more than three axes
 * it computes `walk` cells along the third last, one after the other. */
void ambit__nest_cells_launched(ambit__nest *n, const int threads[2], int walk);

/* ---- print.c ---- */

void ambit__nest_print(const ambit__nest *n, ambit__writer *w);
/* "2 * u_s0 - u_s1 + 3", or in rows that wrap "2 * u_s0 - u_s1 + u_p3": the distance from this cell
 * of a field to another, or to a component; "0" for the cell itself. */
void ambit__nest_print_offset(const ambit__nest *n, ambit__text *t, const ambit__access *a);

#endif
