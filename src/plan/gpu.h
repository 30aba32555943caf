/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h - shared by the strategies for GPUs: the parameters of kernels and their names.
 *
 * A generated file has up to two kernels. The parameters of the first, ambit__entry_name(),
 * describe the launch completely. For each parameter of the rule, in order:
 *
 *   field      u_mem, its memory; u_o, offset from there to cell 0, 0, ...; u_s0, u_s1, ..., stride
 *              along each axis; u_c, stride between components
 *   value      k_mem, address of its eight bytes
 *   reduction  r_mem, where each block stores its partial result, eight bytes per block; for a
 *              strict sum, a zeroed long accumulator to which all blocks add
 *
 * Then follow: lo0.. hi0.. (the cells to update, local); offset0.. (global index of local index 0);
 * extent0.. (of the grid); step; times, mail and rounds (only of a flow that loops: its
 * iterations, and how blocks exchange values, nest/window/exchange.c); aims and windows (only of a
 * flow with points: nest/window/points.c); faults (only in a
 * checked kernel: its fault record); ended (NULL, or a number that is not 0 once the run is over,
 * when kernels do nothing).
 *
 * On a sparse grid, fields have only the stride along the last axis, and in place of the box come
 * groups, lines and cells, the tables of grid/assignment.h, or NULL; units, the number of units to
 * update; share, the number of them that a block has; and in a list first, the position of the
 * first cell, or -1 if the others do not follow it.
 *
 * On tiles (nest/tiles.c), the box is replaced by tables of boxes, and what is found about them.
 *
 * A rule that reduces has a second kernel, <entry>_fold, which runs in one block and folds the
 * partial results. Its parameters are: for each reduction r_mem and r_to (the scalar); count, the
 * number of blocks of the first kernel; more, one bit per parameter, set to fold in the present
 * value of the scalar; ended. Strict sums are folded into the long accumulator stored behind the
 * scalar, and r_mem is zeroed again. Kernels generated for users, and kernels that users register,
 * have no `ended`.
 *
 * Only ambit__gpucode_slots knows the order. Both the printed parameter list and the arguments of a
 * launch come from it.
 */
#ifndef AMBIT_PLAN_GPU_H
#define AMBIT_PLAN_GPU_H

#include "nest/tiles.h"
#include "plan/emit.h"

enum {
  AMBIT__GPUCODE_SLOTS = AMBIT_MAX_PARAMS * (4 + AMBIT_MAX_DIMS) + 4 * AMBIT_MAX_DIMS + 14,
  AMBIT__GPUCODE_FOLD_SLOTS = 2 * AMBIT_MAX_PARAMS + 3,
  AMBIT__GPUCODE_PARTIALS = 65536, /* most blocks of a launch that reduces */
  AMBIT__GPUCODE_FEW = 1024,       /* the same, where this many keep the device busy */
  AMBIT__GPUCODE_FOLD = 128        /* threads of the block that folds */
};
#define AMBIT__GPUCODE_FOLD_TAIL "_fold"

typedef enum ambit__gpucode_slot_kind {
  SLOT_MEMORY,    /* param: of a field */
  SLOT_ORIGIN,    /* param */
  SLOT_STRIDE,    /* param, axis */
  SLOT_COMPONENT, /* param */
  SLOT_VALUE,     /* param: of a scalar or number */
  SLOT_PARTIALS,  /* param: of a reduction */
  SLOT_RESULT,    /* param: of a reduction, its scalar */
  SLOT_STARTS,    /* param: of points, by cell, where its entries begin; memory, as the next ones */
  SLOT_WHO,       /* param: by entry, the point */
  SLOT_WEIGHTS,   /* param: by entry */
  SLOT_ROWS,      /* param: the values to add, or the cells that were sampled */
  SLOT_ROW,       /* param: added to step / every, the row */
  SLOT_TOUCHED,   /* param: the cells of a row */
  SLOT_LO,        /* axis */
  SLOT_HI,        /* axis */
  SLOT_OFFSET,    /* axis */
  SLOT_EXTENT,    /* axis */
  SLOT_GROUPS,    /* of a sparse grid: memory */
  SLOT_LINES,     /* memory */
  SLOT_CELLS,     /* memory */
  SLOT_UNITS,
  SLOT_SHARE,
  SLOT_FIRST, /* of a list */
  SLOT_TABLE, /* of tiles: memory; see nest/tiles.c for these */
  SLOT_THAN,  /* param: of an output, memory */
  SLOT_FOUND, /* memory */
  SLOT_LINKS, /* memory */
  SLOT_STATE, /* memory */
  SLOT_TILES,
  SLOT_ROUND,
  SLOT_STEP,
  SLOT_TIMES,   /* of a flow that loops: iterations of the launch */
  SLOT_MAIL,    /* memory of 64-bit integers */
  SLOT_ROUNDS,  /* exchanges through it so far */
  SLOT_AIMS,    /* of a flow with points: memory, the cells of each warp that they touch */
  SLOT_WINDOWS, /* the same: memory, or NULL */
  SLOT_FAULTS,  /* the fault record of a checked kernel */
  SLOT_COUNT,   /* number of partial results */
  SLOT_MORE,    /* one bit per parameter; in kernels for users 0 or 1 */
  SLOT_ENDED    /* a 64-bit integer in memory */
} ambit__gpucode_slot_kind;

/* One parameter of a kernel. All but memory addresses are 64-bit integers. */
typedef struct ambit__gpucode_slot {
  ambit__gpucode_slot_kind kind;
  int param, axis;
} ambit__gpucode_slot;

/* The parameters of the two kernels. Returns their number. The arrays must have
 * AMBIT__GPUCODE_SLOTS and AMBIT__GPUCODE_FOLD_SLOTS elements. */
int ambit__gpucode_slots(const ambit__group *g, ambit__gpucode_slot *slots);
int ambit__gpucode_fold_slots(const ambit__group *g, ambit__gpucode_slot *slots);
/* Prints the name of a parameter: "u_s0". */
void ambit__gpucode_print_name(const ambit__group *g, const ambit__gpucode_slot *s, ambit__text *t);
/* For users: a line with the meaning of each parameter, or of all axes of one. `margin` begins each
 * line. */
void ambit__gpucode_explain(const ambit__group *g, int n, const ambit__gpucode_slot *slots,
                            const char *margin, ambit__text *t);

/* ---- writing ---- */

bool ambit__gpucode_reduces(const ambit__group *g); /* any parameter is a reduction */
/* A rough cost of a thread per cell: about half of the memory bandwidth of a large GPU. */
double ambit__gpucode_cell_cost(const ambit__group *g, const ambit__target *t,
                                const ambit__plan *p);
/* "kernel void name(...) {", with the parameters in `slots` and `threads` threads per block. */
void ambit__gpucode_open_kernel(const ambit__nest *nest, const ambit__plan *p, const char *tail,
                                const int threads[3], int n, const ambit__gpucode_slot *slots,
                                ambit__writer *w);
/* sparse.c: the units that a block has, if there are so many in all. */
int64_t ambit__sparse_share(const ambit__plan *p, int64_t units);

#endif
