/* plan.h - how a group of steps runs on one device.
 *
 * A strategy is a way of writing the code for a group; a plan is a strategy with its numbers
 * filled in. Plans print as one line, "(rows 4 strip 512 stream)": log, cache key and bug report in
 * one. One file per strategy, all with the same functions; strategies.c lists them, best first.
 */
#ifndef AMBIT_PLAN_PLAN_H
#define AMBIT_PLAN_PLAN_H

#include "codegen/dialect.h"
#include "codegen/writer.h"
#include "grid/box.h"

/* Vectors begin on multiples of at most so many cells of a row: none goes beyond the end of one that is a multiple of that long. */
enum { AMBIT__ALIGNED = 16 };

/* What a parameter is bound to, as far as the code depends on it. A field that is bound `around` is periodic along the last axis, which no
 * part is cut across, and has no ghost cells there: code takes what is read beyond one end of a row from the other. */
typedef struct ambit__binding {
  bool is_field;   /* a field; otherwise a scalar or a number */
  bool contiguous; /* a field whose cells lie beside each other along the last axis */
  bool shared;     /* another parameter is bound to the same field, and one of them is written */
  bool around;     /* a field whose rows begin anew; TARGET_GPU only */
  int twin; /* of a written field: 1 + the parameter whose field may hold the same beside the box; 0: none */
} ambit__binding;

typedef struct ambit__group_step {
  const ambit__rule *rule;
  const ambit__binding *bind; /* per parameter */
} ambit__group_step;

enum {
  AMBIT__CHECK_NAN = 1, /* NaN that is written */
#ifdef AMBIT_ACCESS_CHECKS
  AMBIT__CHECK_ACCESS = 2 /* reads and writes outside the cells and the memory of a field */
#endif
};

/* Steps that run as one function: `nsteps` steps, `depth` iterations of them. */
typedef struct ambit__group {
  int nsteps;
  const ambit__group_step *steps;
  int depth;
  int ndims;                     /* axes of the grid; 0: the steps run once, on scalars */
  int64_t cells[AMBIT_MAX_DIMS]; /* a typical box */
  bool strict;                   /* see ambit__settings */
  unsigned checks;   /* AMBIT__CHECK_...: what launches must be checked for; 0: nothing */
  bool for_people;   /* to be compiled elsewhere, with ambit.h at hand */
  const char *entry; /* name of the function; NULL: AMBIT_ENTRY */
} ambit__group;

/* Whether parameter p of the group's rule is a sum that must not depend on the order of cells: a long accumulator is needed. */
static inline bool ambit__sums_exactly(const ambit__group *g, const ambit__param *p)
{
  return g->strict && p->kind == PARAM_REDUCE && p->reduce == REDUCE_SUM &&
         ambit__type_is_real(p->type);
}

typedef enum ambit__target_kind {
  TARGET_C,  /* a function of one box, called by each thread */
  TARGET_GPU /* kernels that are launched over one box */
} ambit__target_kind;

/* What a strategy must know of the device it writes for. */
typedef struct ambit__target {
  ambit__target_kind kind;
  size_t vector_bytes; /* of the widest vector */
  size_t l1, l2, l3;   /* bytes of cache: per core, per core, all; 0 unknown */
  int threads;         /* that share a box */
  bool can_stream;     /* stores that go past the cache pay for fields larger than it */
  /* TARGET_GPU; `threads` are its multiprocessors, `l2` is the cache they share */
  const ambit__dialect *dialect; /* the language of its kernels */
  int warp;                      /* lanes that run in lockstep; 1 if unknown */
  int max_threads;               /* per block */
  size_t shared;                 /* bytes that the threads of a block can share */
} ambit__target;

struct ambit__strategy;
struct ambit__recipe; /* plan/recipe.h */

typedef struct ambit__plan {
  const struct ambit__strategy *strategy;
  int depth;   /* iterations fused */
  int rows[2]; /* rows computed together along the axis before the last, and the one before that */
  int64_t strip; /* cells of a row computed at a time; 0: the whole row */
  int64_t
      block; /* cells along the axis before the last that are finished before the next plane; 0: all */
  bool stream;    /* results go past the cache */
  int threads[3]; /* TARGET_GPU: of a block, x first */
  int64_t blocks; /* TARGET_GPU: of a launch, at most */
  bool
      sums; /* strategy stream: keeps results that are not complete, not the planes they depend on */
  int ahead;    /* strategy stream: planes that are loaded before their time */
  int resident; /* blocks that a multiprocessor is to run at once; 0: as many as it can */
  int wave;     /* blocks that all of them run at once; 0: not said */
} ambit__plan;

/* How a kernel is launched over a box: x first. */
typedef struct ambit__shape {
  int64_t blocks[3];
  int threads[3];
  size_t shared; /* bytes of shared memory asked for at the launch */
} ambit__shape;

typedef struct ambit__strategy {
  const char *name; /* appears in plans and in generated kernels */
  bool (*applies)(const ambit__group *g, const ambit__target *t);
  int (*candidates)(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most);
  double (*cost)(const ambit__group *g, const ambit__target *t, const ambit__plan *p); /* ns/cell */
  void (*emit)(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
               ambit__writer *w);
  void (*describe)(const ambit__plan *p, ambit__text *t);
  /* TARGET_GPU: the launch over a box, which is not empty. */
  void (*shape)(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                ambit__shape *shape);
  /* TARGET_GPU: whether it may run, and is worth while, on a box of so many cells of a part that has `own`
   * cells, whatever the plan was made for. NULL: on any. */
  bool (*suits)(const ambit__group *g, const ambit__plan *p, const int64_t *cells,
                const int64_t *own);
  /* TARGET_GPU: how many cells along an axis are computed together, so that boxes of whole tiles waste nothing; axes where that is
   * no matter are left alone. NULL: no matter at all. */
  void (*tile)(const ambit__group *g, const ambit__plan *p, int64_t *cells);
  /* TARGET_GPU: how such launches are made by others, for boxes of any size; fills in all but the name. NULL: not over
   * boxes. */
  void (*recipe)(const ambit__group *g, const ambit__plan *p, struct ambit__recipe *recipe);
} ambit__strategy;

/* The cheapest plan by the strategies' own estimate; false when none applies. */
bool ambit__plan_choose(const ambit__group *g, const ambit__target *t, ambit__plan *plan);

/* Least traffic and work of one update of one cell, as `ambit explain` shows them. */
typedef struct ambit__price {
  double bytes; /* every value that must be read, once, and every value written, once */
  double flops;
} ambit__price;
ambit__price ambit__price_of(const ambit__rule *rule);

#endif
