/* SPDX-License-Identifier: BSD-3-Clause */
/* nest.h - a loop nest as data: how a machine computes a group.
 *
 * A nest is a tree of nodes. Builders make it (once.c, rows.c, cells.c, ...), passes change it, and
 * one printer writes it (print.c), in a language that is a table (codegen/dialect.h).
 *
 * The names in a nest are the same in every language:
 *
 *   u_mem, u_o    memory of a field, and the distance from there to cell 0, 0, ...
 *   u_s0, u_c     its stride along axis 0, and between components
 *   u_row, u_at   the start of this row, and this cell of it; u_at[2 * u_s0 - 1] is a neighbour
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
#include "codegen/narrow.h"
#include "nest/factors.h"
#include "nest/group.h"

/* A component of a field at an offset from this cell, or from place x along the row. */
typedef struct ambit__nest_access {
  int param, component;
  const int *offset; /* ndims */
  const char *x;     /* a formula; NULL: this cell */
} ambit__nest_access;

typedef enum ambit__node_kind {
  NODE_LOOP,  /* name = from; name < below; name += step: body; without a type, name goes on */
  NODE_IF,    /* if (value) body, else other; without a value, the body alone, named in a comment */
  NODE_LOAD,  /* declares name, of a type: the value at `access` */
  NODE_STORE, /* a value, or the variable of a written component, goes to memory */
  NODE_RULE,  /* the statements of the rule */
  NODE_SHARED, /* declares what all cells share: values, and in C the operators of reductions */
  NODE_FOLD,   /* name = name and value, by the operator of a reduction */
  NODE_ARRAY,  /* on GPUs, declares name: slots in registers, or in memory that a block shares */
  NODE_WORDS,  /* declares variables for several cells at a time: nest/strip/pairs.h */
  NODE_NOTE,   /* a comment: value */
  NODE_DO      /* a statement: value */
} ambit__node_kind;

typedef enum ambit__loop_kind {
  LOOP_SERIAL,
  LOOP_VECTOR, /* its turns are independent: compilers make vectors of them */
  LOOP_LAUNCH  /* shared by the blocks and threads of a launch */
} ambit__loop_kind;

typedef enum ambit__store_kind {
  STORE_CELL,       /* into a total it is folded */
  STORE_VECTOR,     /* a whole vector, from the array `value` */
  STORE_NONTEMPORAL /* the same, past the caches */
} ambit__store_kind;

typedef struct ambit__node {
  ambit__node_kind kind;
  const char *type, *name; /* LOOP, LOAD, FOLD; IF: NULL or the name of a block */
  const char *value;       /* IF, DO, FOLD, STORE: a formula; LOAD: in place of the access */
  /* LOOP; step NULL: 1, "": the body changes its variable. RULE: `step` is the one that stages know
   */
  const char *from, *below, *step;
  char by;             /* LOOP: 0 for +; with - and / it counts down, name > below; name -= step */
  int cells;           /* LOOP_VECTOR: of a vector; 0: compilers choose */
  int size[4];         /* ARRAY: of each subscript; the rest are 0 */
  bool shared, zeroed; /* ARRAY */
  bool unless; /* IF: if not; lanes exchange values in the body: not every language has a branch */
  ambit__loop_kind how;  /* LOOP */
  int along, threads;    /* LOOP_LAUNCH: x, y or z, and the threads of a block along it */
  bool rolled, unrolled; /* LOOP, on GPUs: compilers should not unroll it; should; */
  int batched; /* should take so many turns at a time, so that their loads overlap; 0: no matter */
  bool folds;  /* LOOP_VECTOR: its turns fold reductions into r_part */
  ambit__nest_access access; /* LOAD, STORE, FOLD: its parameter */
  ambit__store_kind store;   /* STORE */
  ambit_type wide;           /* FOLD: the type in which it is done */
  bool joins;                /* FOLD, on GPUs: the value is a total, too */
  int inside;                /* RULE: tests of place are -1: computed; 0, 1: as this says */
  int row;                   /* RULE: of a block */
  bool subscripts;           /* RULE: those of look-ups by vectors alone */
  const ambit__rule *of; /* RULE: of a stage, which `hooks` must read; NULL: that of the group */
  const void *user;      /* RULE: private to hooks */
  struct ambit__node *body, *other, *next;
} ambit__node;

enum {
  AMBIT__WARP = 32,       /* lanes of a GPU that exchange values */
  AMBIT__NEST_DEPTH = 32, /* most nodes inside each other */
  AMBIT__LOOKS = 16       /* most look-ups of bytes and shorts by vectors */
};

typedef struct ambit__nest ambit__nest;

/* How a builder or a pass writes parts of a rule; NULL: as they are. The first two return whether
 * they printed other text for a read of a field, and for any expression; `skip`, whether a
 * statement is left out; `set` adds code after one that sets a result. */
typedef struct ambit__nest_hooks {
  bool (*read)(ambit__nest *n, const ambit__node *rule, ambit__text *t, const ambit__expr *e);
  bool (*instead)(ambit__nest *n, const ambit__node *rule, ambit__text *t, const ambit__expr *e);
  bool (*skip)(ambit__nest *n, const ambit__node *rule, const ambit__stmt *st);
  void (*set)(ambit__nest *n, ambit__writer *w, const ambit__stmt *st);
  /* Prints a value for several cells: see ambit__pairs_read. */
  void (*word)(ambit__nest *n, ambit__text *t, const ambit__expr *e, const int *word);
} ambit__nest_hooks;

struct ambit__nest {
  const ambit__group *group;
  const ambit__dialect *dialect;
  const ambit__rule *rule; /* of the group's only step */
  const ambit__binding *bind;
  const char *integer;                /* the 64-bit integer type */
  ambit__hoists hoists;               /* values that all cells share */
  ambit__nest_hooks hooks, unchecked; /* `unchecked`: those before checks were added */
  const int *unit;  /* on a GPU and a sparse grid: rows of a unit; NULL: cells have one */
  int wide;         /* of a unit: cells of a row */
  int row;          /* of a unit: the one that is being built */
  int along;        /* an axis, from 1, along which tests of place are always made; 0: none */
  bool flat;        /* conditions of the rule become selections */
  bool registers;   /* on GPUs: values that the rule reads are in registers */
  bool loads_first; /* the reads of a cell are variables u_r0, u_r1, ...: NODE_RULE uses those */
  /* In C, a vector at a time: fields of narrow integers whose reads are arrays u_w0_0, ... of
   * int32_t; or, if all fields are narrow, lanes as narrow as values, and look-ups. */
  bool widened[AMBIT_MAX_PARAMS];
  bool is_narrow;
  ambit__narrow narrow;
  int nlooks;
  const ambit__expr *looks[AMBIT__LOOKS];
  struct ambit__pairs *pairs; /* what NODE_WORDS declares */
  bool ends_late;             /* the nest tests itself whether the run has ended, after its loads */
  const void *builder;        /* what a builder keeps for its hooks */
  ambit__node *first;
  ambit__node **end[AMBIT__NEST_DEPTH]; /* where the next node goes, per level that is open */
  ambit__node *opened[AMBIT__NEST_DEPTH];
  int level;
  /* around the nest in its file: */
  ambit__text prelude; /* in front of its function; owned */
  const char *opening; /* of a kernel: a statement before all others; NULL: none */
  const char *last;    /* of a kernel: a parameter after all others; NULL: none */
  bool calls_own;      /* functions of the prelude call those of prelude/math.h */
  bool failed;         /* no memory */
  ambit__arena arena;
};

void ambit__nest_begin(ambit__nest *n, const ambit__group *g, const ambit__dialect *d);
void ambit__nest_free(ambit__nest *n);

/* ---- make.c: appends a node ---- */

/* A formula or name, kept as long as the nest. */
const char *ambit__nest_text(ambit__nest *n, const char *format, ...) AMBIT__FORMAT(2, 3);
/* " + 2", " - 1", or nothing; "[t + 1]". */
const char *ambit__nest_more(ambit__nest *n, int more);
const char *ambit__nest_at(ambit__nest *n, const char *name, int more);
/* "[(p + 3) % 4]": of slots that are used in turn, one each turn p, that of so many turns later. */
const char *ambit__nest_slot(ambit__nest *n, int later, int period);
/* "0.25f * once1", "-once1": the weight of a term; `factor` NULL: a number. The same of a tap. */
const char *ambit__nest_weight(ambit__nest *n, ambit_type type, double weight, const char *factor);
const char *ambit__nest_tap(ambit__nest *n, ambit_type type, const ambit__tap *tap);
/* Of a factored sum: "const float g1 = u[1] + u[-1]" for all groups, whose cells `name` names;
 * "0.3f * g0 + 0.1f * g1", a profile; "2.0f * ", the factor of a slice. */
void ambit__nest_let_groups(ambit__nest *n, ambit_type type, const ambit__factors *f,
                            const char *(*name)(const void *user, const int *offset),
                            const void *user);
const char *ambit__nest_profile(ambit__nest *n, ambit_type type, const ambit__factors *f,
                                int profile);
const char *ambit__nest_slice(ambit__nest *n, ambit_type type, const ambit__factor_slice *slice);
/* Keeps a text that was printed, and frees it. */
const char *ambit__nest_keep(ambit__nest *n, ambit__text *t);
void ambit__nest_add(ambit__nest *n, ambit__node node);
/* A node of a kind with some fields: ambit__nest_node(n, NODE_FOLD, .name = to, .value = from). */
#define ambit__nest_node(n, kind_, ...)                                                            \
  ambit__nest_add((n), (ambit__node){.kind = (kind_), __VA_ARGS__})
/* A statement, such as "const long i0 = offset0 + y0", without its semicolon. */
#define ambit__nest_do(n, ...)                                                                     \
  ambit__nest_node((n), NODE_DO, .value = ambit__nest_text((n), __VA_ARGS__))
/* The same under a condition. */
#define ambit__nest_do_if(n, condition, ...)                                                       \
  (ambit__nest_if((n), "%s", (condition)), ambit__nest_do((n), __VA_ARGS__), ambit__nest_close(n))
/* "ambit_load<4>", or in a language without templates "ambit_load_float_4": a function of the
 * prelude for so many values of a type; NULL: of none. */
const char *ambit__nest_callee(ambit__nest *n, const char *name, const char *type, int cells);
/* On GPUs, its call. */
#define ambit__nest_call(n, name, type, cells, ...)                                                \
  ambit__nest_do((n), "%s(%s)", ambit__nest_callee((n), (name), (type), (cells)),                  \
                 ambit__nest_text((n), __VA_ARGS__))
/* On GPUs: all threads of the block, or of a warp, wait for each other. */
void ambit__nest_barrier(ambit__nest *n);
void ambit__nest_barrier_of_warp(ambit__nest *n);
void ambit__nest_note(ambit__nest *n, const char *comment);
/* Nodes that follow are inside the loop, condition or block, until close. `otherwise` turns to the
 * other side of a condition. */
void ambit__nest_open(ambit__nest *n, ambit__node node);
#define ambit__nest_loop(n, ...)                                                                   \
  ambit__nest_open((n), (ambit__node){.kind = NODE_LOOP, __VA_ARGS__})
#define ambit__nest_for(n, type_, name_, from_, below_)                                            \
  ambit__nest_loop((n), .type = (type_), .name = (name_), .from = (from_), .below = (below_))
#define ambit__nest_if(n, ...)                                                                     \
  ambit__nest_open((n), (ambit__node){.kind = NODE_IF, .value = ambit__nest_text((n), __VA_ARGS__)})
#define ambit__nest_named(n, ...)                                                                  \
  ambit__nest_open((n), (ambit__node){.kind = NODE_IF, .name = ambit__nest_text((n), __VA_ARGS__)})
/* The loop of `name` over lo .. hi - 1, in that order or back. */
void ambit__nest_along(ambit__nest *n, const char *type, const char *name, const char *lo,
                       const char *hi, bool back);
void ambit__nest_block(ambit__nest *n);
/* Ditto, for a loop over first .. end - 1 that compilers should unroll. */
void ambit__nest_unroll(ambit__nest *n, const char *name, int first, int end);
void ambit__nest_otherwise(ambit__nest *n);
void ambit__nest_close(ambit__nest *n);

/* ---- properties of parameters ---- */

static inline const ambit__param *ambit__nest_param(const ambit__nest *n, int i)
{
  return &n->rule->params[i];
}

static inline const char *ambit__nest_name(const ambit__nest *n, int i)
{
  return n->rule->params[i].name;
}

static inline int ambit__nest_last(const ambit__nest *n) /* the last axis */
{
  return n->group->ndims - 1;
}

static inline bool ambit__nest_is_field(const ambit__nest *n, int i)
{
  return ambit__nest_param(n, i)->kind == PARAM_FIELD && n->bind[i].is_field;
}

static inline bool ambit__nest_is_reduction(const ambit__nest *n, int i)
{
  return ambit__nest_param(n, i)->kind == PARAM_REDUCE;
}

/* Whether cells fold values into components of field i whose numbers they compute. */
static inline bool ambit__nest_is_binned(const ambit__nest *n, int i)
{
  return n->bind[i].onto && ambit__nest_param(n, i)->bins;
}

static inline const char *ambit__nest_type(const ambit__nest *n, int i)
{
  return n->dialect->types[ambit__nest_param(n, i)->type];
}

/* Of a field in memory: a total is wider than the values that cells fold into it. */
static inline ambit_type ambit__nest_stored(const ambit__nest *n, int i)
{
  const ambit_type type = ambit__nest_param(n, i)->type;

  return n->bind[i].onto ? ambit__type_total(type) : type;
}

/* ---- cell.c: the pieces of a cell ---- */

/* The value of pair k of parameter i, which is `value` if it is no constant. In C, "n_bins[bin] +=
 * value". */
const char *ambit__nest_amount(ambit__nest *n, int i, int k, const char *value);
void ambit__nest_fold_bin(ambit__nest *n, int i, int k, const char *bin, const char *value);

/* The distance from place y of a closed row to the cell that place y + k, or y - k, beyond an end
 * of the row stands for. */
const char *ambit__nest_beyond(ambit__nest *n, ambit_boundary kind, int side, const char *y, int k);
/* "const long u_m1 = (y1 < 1 ? extent1 - 1 : -1);" for every offset along the last axis at which a
 * field with closed rows is read: the distance from the cell at y1 to that neighbour. */
void ambit__nest_let_neighbours(ambit__nest *n);
/* "const float *u_at = u_mem + (u_o + y0 * u_s0 + y1);" for every field, and the indices i0, ... */
void ambit__nest_let_places(ambit__nest *n);
/* On a GPU, in a sweep: whether a line keeps a carried field in variables, as no other parameter
 * reads it; "c_at[0] = c_line[0]" for each of its components, before the loop along a line, and
 * "c_line[0] = c_at[0]" after it. */
bool ambit__nest_is_kept(const ambit__nest *n, int param);
void ambit__nest_let_carried(ambit__nest *n);
void ambit__nest_store_carried(ambit__nest *n);
/* On a GPU: a run that has ended does nothing; "const float k_v = *k_mem;" for every value. */
void ambit__nest_let_ended(ambit__nest *n);
void ambit__nest_let_values(ambit__nest *n);
/* "const float u_r0 = u_at[-1];" for every read, if loads come first: compilers do not move them
 * out of branches. `place` says where a value is; NULL: where the pointers to the cell say. */
typedef ambit__nest_access ambit__nest_place(void *user, int param, const ambit__read *r);
void ambit__nest_let_loads(ambit__nest *n, ambit__nest_place *place, void *user);
/* "float v_out = v_at[0];" for every written component and reduction, and "v_at[0] = v_out;". */
void ambit__nest_let_outs(ambit__nest *n);
void ambit__nest_let_results(ambit__nest *n); /* of reductions alone */
void ambit__nest_store_outs(ambit__nest *n);
/* Calls f for every written component of a field, with the offset of its cell. */
void ambit__nest_each_output(ambit__nest *n,
                             void (*f)(ambit__nest *, ambit__nest_access, void *user), void *user);
/* "v_out", or "v_out3" if v is a vector. */
const char *ambit__nest_name_of(ambit__nest *n, const char *what, const ambit__param *p,
                                int component);
/* Folds one variable of every reduction but strict sums into another: r_to and r_from. The type
 * in which results of a row are folded; with `wide`, rows are, in that of totals. */
void ambit__nest_fold_into(ambit__nest *n, const char *to, const char *from, bool wide);
ambit_type ambit__nest_part_type(const ambit__param *p);

/* ---- totals.c: on GPUs, by blocks of `wide` x `high` threads ---- */

/* The type of a thread's total and of a block's partial result: at most eight bytes. */
const char *ambit__total_type(const ambit__group *g, const ambit__dialect *d, int param);
const char *ambit__total_zero(ambit__nest *n, int param); /* the total of no cells */
/* r_total, the total of this thread; the total of a block goes to r_mem[b], and all threads of the
 * block must reach that. For a rule without reductions there is nothing. */
void ambit__nest_let_totals(ambit__nest *n, int wide, int high);
void ambit__nest_leave_totals(ambit__nest *n, int wide, int high);
/* The second kernel, in one block. */
void ambit__nest_fold_totals(ambit__nest *n, int threads);

/* ---- builders ---- */

/* once.c: a rule on scalars alone. */
void ambit__nest_once(ambit__nest *n);

/* rows.c: in C, a box, or chunks of a sparse grid. */
typedef struct ambit__rows {
  int rows[2];      /* computed together: along the axis before the last, and the one before that */
  int64_t strip;    /* cells of a row computed at a time; 0: the whole row */
  int64_t block;    /* rows of a plane that are finished before the next plane; 0: all */
  bool plain;       /* the nest that a person would write: compilers make vectors along rows */
  bool vectors;     /* a vector of cells at a time; false: where compilers do not make good ones */
  bool nontemporal; /* stores bypass the caches */
  bool scalar;      /* the rule has operations that compilers do not vectorise */
  bool factored;    /* a weighted sum with fewer operations: nest/factors.h */
} ambit__rows;
void ambit__nest_rows(ambit__nest *n, const ambit__rows *r);

/* repeats.c: in C, tiles of a box whose repeated values (kernel/repeats.c) one function stores in
 * an array, for which another one computes the rest of the rule. */
typedef struct ambit__repeats_tile {
  int64_t cells[AMBIT_MAX_DIMS]; /* 1 along the first axes, a power of 2 along the last one */
} ambit__repeats_tile;
/* Elements of the array for each value of a cell. */
int64_t ambit__repeats_room(const ambit__repeats *r, const ambit__repeats_tile *tile, int ndims);
void ambit__nest_repeats(ambit__nest *n, const ambit__repeats *r, const ambit__repeats_tile *tile,
                         const char *values, const char *rest);
/* The terms of the rule of a group, if that is a weighted sum of one field into another whose terms
 * may be reordered; else NULL. The caller frees them. */
ambit__tap *ambit__nest_sum(const ambit__group *g, ambit__sum *sum);

/* cells.c: on a GPU, the loops of a thread, in blocks of threads[0] x threads[1]. With more than
 * three axes it computes `walk` cells along the third last, one after the other. */
void ambit__nest_cells_launched(ambit__nest *n, const int threads[2], int walk);
/* The axes that lie along threads, the last one along x; returns their number. */
int ambit__nest_launched_axes(const ambit__group *g, int axes[AMBIT_MAX_DIMS]);

/* lines.c: on a GPU, a sweep whose cells pass through shared memory, by blocks of a warp. `f` must
 * stay. */
typedef struct ambit__nest_lines {
  int lanes;    /* that have a line each, a power of 2 */
  int cells;    /* of a tile along its lines, a power of 2 */
  int ring;     /* tiles in shared memory, at least 2: one is computed, the others arrive */
  int batch;    /* cells of a lane that are loaded together, a power of 2; 1: none */
  bool vectors; /* the language has vectors: prelude/strips.h */
} ambit__nest_lines;
void ambit__nest_lines_launched(ambit__nest *n, const ambit__nest_lines *f);
/* Bytes of shared memory: of a ring of so many tiles, and of results. */
size_t ambit__nest_lines_bytes(const ambit__group *g, const ambit__nest_lines *f, int ring);

/* folds.c: on a GPU, threads that fold the values of cells into totals of fields (binding onto). */
typedef struct ambit__nest_folds {
  int along;      /* the axis of neighbouring threads, with memory that is adjacent */
  int pieces;     /* a folded axis: cells of a total along it are cut into pieces, a total each */
  int inner;      /* a folded axis: that of the innermost loop, */
  int batch;      /* of which so many turns are taken together */
  int threads[2]; /* of a block: along that axis; those beside them have other totals if it is
                     folded, else other cells of the same totals, along the axis of the pieces */
} ambit__nest_folds;
void ambit__nest_folded(ambit__nest *n, const ambit__nest_folds *f);

/* bins.c: on a GPU, threads that fold values into tables, and tables into totals. */
typedef struct ambit__nest_bins {
  int threads[2]; /* of a block, along the last axis, and rows */
  int each;       /* cells of a thread that are loaded together */
  int tables;     /* of a block; one for each thread, unless threads count by atomic additions */
} ambit__nest_bins;
void ambit__nest_binned(ambit__nest *n, const ambit__nest_bins *b);

/* units.c: on a GPU and a sparse grid, the units of a thread (grid/assignment.h), which have so
 * many cells of so many rows. `rows` must stay. */
void ambit__nest_units(ambit__nest *n, int threads, int wide, const int rows[2]);

/* ---- print.c ---- */

void ambit__nest_print(ambit__nest *n, ambit__writer *w);
/* "2 * u_s0 - u_s1 + 3", or in closed rows "2 * u_s0 - u_s1 + u_p3": the distance from this cell
 * of a field to another, or to a component; "0" for the cell itself. */
void ambit__nest_print_offset(const ambit__nest *n, ambit__text *t, const ambit__nest_access *a);
const char *ambit__nest_distance(ambit__nest *n, const ambit__nest_access *a); /* its text */
/* The number of a read among those of its field. */
int ambit__nest_read_number(const ambit__param *p, const ambit__expr *e);
/* Texts for formulas: a value in memory, "u_at[-1]"; its address, "u_row + (u_s0) + x"; an
 * expression of the rule, as in a NODE_RULE (NULL: outside any); a number; the identity of a
 * reduction. */
const char *ambit__nest_value(ambit__nest *n, const ambit__nest_access *a);
const char *ambit__nest_pointer(ambit__nest *n, const ambit__nest_access *a);
/* The value of a part of the rule that a row shares: ambit__hoists_print_row. */
const char *ambit__nest_row_part(ambit__nest *n, int i, int row, const char *const *index);
const char *ambit__nest_expr(ambit__nest *n, const ambit__node *rule, const ambit__expr *e);
const char *ambit__nest_number(ambit__nest *n, ambit_type type, double x);
const char *ambit__nest_identity(ambit__nest *n, const ambit__param *p);

#endif
