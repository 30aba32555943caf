/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - how a group of steps runs on one device.
 *
 * A strategy is a way to generate the code of a group. A plan is a strategy with its parameters
 * filled in. A plan prints as one line, "(rows 4 strip 512 nontemporal)": it serves as log entry,
 * cache key and bug report. There is one file per strategy, all with the same functions;
 * strategies.c says which ones a group has, the better first.
 */
#ifndef AMBIT_PLAN_PLAN_H
#define AMBIT_PLAN_PLAN_H

#include "codegen/dialect.h"
#include "codegen/writer.h"
#include "nest/group.h"
#include "nest/strip/pairs.h"
#include "plan/machine.h"

/* Vectors start at multiples of at most this many cells of a row, so no vector crosses the end of a
 * row whose length is a multiple of it. */
enum { AMBIT__ALIGNED = 16 };

typedef enum ambit__target_kind {
  TARGET_C,  /* a function of one box, called by each thread */
  TARGET_GPU /* kernels launched over one box */
} ambit__target_kind;

/* The properties of the device that a strategy depends on. */
typedef struct ambit__target {
  ambit__target_kind kind;
  const ambit__machine *machine; /* how fast it is; NULL: as recorded (ambit__target_machine) */
  size_t vector_bytes;           /* of the widest vector */
  size_t l1, l2, l3;             /* bytes of cache: per core, per core, shared by all; 0: unknown */
  int threads;                   /* that share a box */
  bool has_nontemporal;          /* has non-temporal stores */
  /* TARGET_GPU only; there `threads` counts multiprocessors and `l2` is the cache they share */
  const ambit__dialect *dialect; /* the language of its kernels */
  bool exchanges;                /* in OpenCL, too, lanes exchange values without shared memory */
  int max_threads;               /* per block */
  size_t shared;                 /* bytes of shared memory per block */
  bool is_cpu;                   /* its threads are those of a processor */
  bool dots;                     /* sums of bytes are instructions (CUDA has them in any case), */
  bool minima;                   /* and two minima of 16 bits are one */
} ambit__target;

struct ambit__strategy;
struct ambit__nest;        /* nest/nest.h */
struct ambit__launch_line; /* plan/launch_line.h */

typedef struct ambit__plan {
  const struct ambit__strategy *strategy;
  int depth;   /* iterations fused */
  int rows[2]; /* rows computed together along the axis before the last, and the axis before that */
  int64_t strip; /* cells of a row computed at a time; 0: the whole row */
  /* cells along the axis before the last that are finished before the next plane; 0: all */
  int64_t block;
  /* operations per cell of a weighted sum that is factored (nest/factors.h), its terms; 0: not */
  int factored, terms;
  int repeats, of; /* of so many values per cell, such as neighbours have too, these are computed */
  double left;     /* the share of operations that is left then */
  bool nontemporal; /* stores bypass the caches */
  bool scalar;      /* TARGET_C: the rule has operations that compilers do not vectorise */
  int threads[3];   /* TARGET_GPU: threads per block, x first */
  int64_t blocks;   /* TARGET_GPU: most blocks per launch */
  int wide;         /* strategy sparse: cells of a unit, grid/assignment.h */
  bool sums;        /* strategy strip: keeps partial results instead of the planes they depend on */
  int ahead;        /* strategy strip: planes loaded in advance */
  size_t ring;      /* strategy strip: bytes of shared memory that planes go through; 0: none */
  double panel;     /* strategy strip: bytes of a layer of tiles that stay in the cache */
  bool apart;       /* strategy strip: lanes load the cells beside theirs, and exchange none */
  ambit__packed packed; /* strategy strip: instructions for bytes */
  int lanes;            /* strategies strip and fused: lanes of a warp with the same rows */
  bool rolled;          /* strategy fused: turns are a loop, as rows are in memory anyway */
  int resident;         /* blocks that a multiprocessor should run at once; 0: as many as it can */
  int wave;             /* blocks that the whole device runs at once; 0: unspecified */
  int axes[3]; /* strategy folds: along threads, of pieces, of the innermost loop (nest/folds.c) */
} ambit__plan;

/* The launch of a kernel over a box; x first. */
typedef struct ambit__shape {
  int64_t blocks[3];
  int threads[3];
  size_t shared; /* bytes of dynamic shared memory */
  size_t edges;  /* bytes of device memory through which blocks that run together exchange values */
  int64_t share; /* of cells that are folded onto fields (nest/folds.c): those of a piece, */
  int64_t pieces; /* and their number */
} ambit__shape;

typedef struct ambit__strategy {
  const char *name; /* appears in plans and in generated kernels */
  /* Whether it can generate a group of its kind; NULL: any. */
  bool (*applies)(const ambit__group *g, const ambit__target *t);
  int (*candidates)(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most);
  double (*cost)(const ambit__group *g, const ambit__target *t, const ambit__plan *p); /* ns/cell */
  /* Fills an empty nest, and writes its file (ambit__emit in emit.h). */
  void (*emit)(struct ambit__nest *n, const ambit__target *t, const ambit__plan *p,
               ambit__writer *w);
  void (*describe)(const ambit__plan *p, ambit__text *t);
  /* TARGET_GPU: the launch over a box that is not empty. */
  void (*shape)(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                ambit__shape *shape);
  /* TARGET_GPU: whether the plan may run, and is worthwhile, on a box of `cells` cells in a part of
   * `own` cells, whatever size the plan was made for. NULL: on any box. */
  bool (*suits)(const ambit__group *g, const ambit__plan *p, const int64_t *cells,
                const int64_t *own);
  /* TARGET_GPU: the tile size along each axis. Boxes made of whole tiles waste no work. Leaves axes
   * alone where the size does not matter. NULL: it matters nowhere. */
  void (*tile)(const ambit__group *g, const ambit__plan *p, int64_t *cells);
  /* TARGET_GPU: how other programs launch the kernel over boxes of any size. Fills in all but the
   * name. NULL: the kernel is not launched over boxes. */
  void (*launch_line)(const ambit__group *g, const ambit__plan *p,
                      struct ambit__launch_line *launch_line);
} ambit__strategy;

/* The machine whose speeds estimates read. */
const ambit__machine *ambit__target_machine(const ambit__target *t);

/* The cheapest plan by the estimates of the strategies; false if none applies. */
bool ambit__plan_choose(const ambit__group *g, const ambit__target *t, ambit__plan *plan);
/* The plans that there are for a group, at most `most`: those of a strategy by their estimates, the
 * fastest first. On cores the last one is the plain nest. Returns their number. */
int ambit__plan_candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans,
                           int most);
/* Appends the plans that there are for a group, a line each; those of a strategy by their
 * estimates, the fastest first. */
void ambit__plan_list(const ambit__group *g, const ambit__target *t, ambit__text *lines);
/* The generated file, to free(); NULL: out of memory. */
char *ambit__plan_source(const ambit__group *g, const ambit__target *t, const ambit__plan *p);
/* Whether a plan is one that a user who wrote `start` wants; any is if that is NULL or empty. */
bool ambit__plan_begins(const char *plan, const char *start);

/* Least memory traffic and work to update one cell, as `ambit explain` shows them. */
typedef struct ambit__price {
  double bytes;   /* every value that must be read or written, counted once each */
  double written; /* of these */
  double flops;
  double divisions, specials; /* of these: divisions, but by numbers, and roots; other functions */
  double inverted;            /* of the divisions: on cores, products with an inverse */
  bool in_double;             /* some operation is in double */
  double others;  /* operations on integers, comparisons and selections, in those on 4 bytes */
  double choices; /* conditions: selections, and statements */
  double looks;   /* elements of tables at subscripts that differ from cell to cell */
} ambit__price;
ambit__price ambit__price_of(const ambit__rule *rule);
/* The same with its fields, on a grid of so many axes; fields on some axes stay in the caches, and
 * move no bytes. */
ambit__price ambit__price_bound(const ambit__rule *rule, const ambit__binding *bind, int ndims);
/* Instructions of a GPU for a cell, beside its multiplications and additions. */
double ambit__price_more(const ambit__rule *rule, int ndims);
/* Reads of fields in one update, at all offsets. */
int ambit__rule_reads(const ambit__rule *rule);
/* ns of the work of one cell on all cores of a machine, at `rate` operations for a multiply-add. */
double ambit__price_work(const ambit__price *price, const ambit__machine *m, double rate);

#endif
