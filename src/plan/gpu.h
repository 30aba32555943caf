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
 * extent0.. (of the grid); step; times, edges and rounds (only of a flow that loops: its
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
 * Of a field onto which cells are folded, u_mem is memory for totals, with stride 0 along folded
 * axes but for that of the pieces (nest/folds.c), and u_to the field, if totals are stored as its
 * values at once, or NULL; share is the number of cells of a piece along it.
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
  AMBIT__GPUCODE_SLOTS = AMBIT_MAX_PARAMS * (5 + AMBIT_MAX_DIMS) + 4 * AMBIT_MAX_DIMS + 14,
  AMBIT__GPUCODE_FOLD_SLOTS = 2 * AMBIT_MAX_PARAMS + 3,
  AMBIT__GPUCODE_PARTIALS = 65536, /* most blocks of a launch that reduces */
  AMBIT__GPUCODE_FEW = 1024,       /* the same, where this many keep the device busy */
  AMBIT__GPUCODE_FOLD = 128        /* threads of the block that folds */
};
#define AMBIT__GPUCODE_FOLD_TAIL "_fold"

/* All kinds of parameters: the name, where $ is that of the rule's parameter, and # the axis; the
 * type in memory whose address it is, "$" that of the rule's parameter, "" a 64-bit integer, NULL:
 * it is a number; whether nothing changes that memory (KEPT), and no other name is for it (ALONE);
 * its meaning for users, where @ is a type of the kernel language. */
#define AMBIT__SLOT_MAP(X)                                                                         \
  X(MEMORY, "$_mem", "$", KEPT | ALONE, "field $ (@): where its memory begins")                    \
  X(ORIGIN, "$_o", NULL, 0, "elements from there to cell 0 along every axis")                      \
  X(STRIDE, "$_s#", NULL, 0, "elements from a cell to the next along each axis; the last is 1")    \
  X(COMPONENT, "$_c", NULL, 0, "elements from a component to the next")                            \
  X(VALUE, "$_mem", "$", KEPT, "value $ (@): where it is")                                         \
  X(PARTIALS, "$_mem", "$", 0, "reduction $: 8 bytes per block, for its partial result")           \
  X(RESULT, "$_to", "$", 0, "scalar $ (@): where the result goes")                                 \
  X(STARTS, "$_starts", "", KEPT, "of points: by cell that they touch, its first entry")           \
  X(WHO, "$_who", "", KEPT, "by entry: the point")                                                 \
  X(WEIGHTS, "$_weights", "$", KEPT, "by entry: the weight")                                       \
  X(ROWS, "$_rows", "$", KEPT, "rows of values to add, or of cells that were sampled")             \
  X(ROW, "$_row", NULL, 0, "row of iteration 0")                                                   \
  X(TOUCHED, "$_touched", NULL, 0, "number of cells that points touch")                            \
  X(LO, "lo#", NULL, 0, "the first cell to update along each axis")                                \
  X(HI, "hi#", NULL, 0, "behind the last cell to update")                                          \
  X(OFFSET, "offset#", NULL, 0, "index in the grid of cell 0")                                     \
  X(EXTENT, "extent#", NULL, 0, "cells of the grid along each axis")                               \
  X(GROUPS, "groups", "ambit_u64", KEPT | ALONE,                                                   \
    "of a sparse grid: by 32 units, the line of the first, and bits")                              \
  X(LINES, "lines", "ambit_i32", KEPT | ALONE, "places of units, and distances to rows")           \
  X(CELLS, "cells", "ambit_i32", KEPT | ALONE, "places of cells, and what they test")              \
  X(UNITS, "units", NULL, 0, "number of units to update: a few cells each")                        \
  X(SHARE, "share", NULL, 0, "number of them that a block updates; cells of a piece")              \
  X(FIRST, "first", NULL, 0, "of a list: place of the first, or -1 if others do not follow it")    \
  X(TABLE, "table", "", KEPT | ALONE, "of tiles (nest/tiles.c): boxes")                            \
  X(THAN, "$_than", "$", KEPT, "values to compare those of $ with")                                \
  X(FOUND, "found", "ambit_i32", 0, "boxes of cells that differ")                                  \
  X(LINKS, "links", "ambit_i32", 0, "tiles that read each tile")                                   \
  X(STATE, "state", "ambit_i32", 0, "lists of tiles")                                              \
  X(TILES, "tiles", NULL, 0, "number of tiles")                                                    \
  X(ROUND, "round", NULL, 0, "number of the round, the first being 0")                             \
  X(STEP, "step", NULL, 0, "number of the iteration, the first being 0")                           \
  X(TIMES, "times", NULL, 0, "of a flow that loops: number of iterations")                         \
  X(EDGES, "edges", "ambit_u64", 0, "memory through which blocks exchange values")                 \
  X(ROUNDS, "rounds", NULL, 0, "number of such exchanges so far")                                  \
  X(AIMS, "aims", "int", KEPT, "of a flow with points: cells of each warp that they touch")        \
  X(WINDOWS, "windows", "int", 0, "NULL, or where each warp writes down its cells")                \
  X(FAULTS, "faults", "", 0, "of a checked kernel: where the first fault is noted")                \
  X(COUNT, "count", NULL, 0, "blocks of the first kernel")                                         \
  X(MORE, "more", NULL, 0, "1: fold into the value of the scalar; 0: start anew")                  \
  X(ENDED, "ended", "", KEPT, "NULL, or a number that is not 0 once the run is over")

#define AMBIT__SLOT_KIND(kind, name, type, how, meaning) SLOT_##kind,
typedef enum ambit__gpucode_slot_kind {
  AMBIT__SLOT_MAP(AMBIT__SLOT_KIND)
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
/* For users: a line with the meaning of each parameter, or of all axes of one. `margin` begins each
 * line. */
void ambit__gpucode_explain(const ambit__group *g, int n, const ambit__gpucode_slot *slots,
                            const char *margin, ambit__text *t);

/* ---- block_counts.c: how many blocks a launch has ---- */

int64_t ambit__blocks_most(const ambit__group *g); /* a partial result each */
/* So many per multiprocessor, which are busy then; fewer if each has a partial result. */
int64_t ambit__blocks_busy(const ambit__group *g, const ambit__target *t, int64_t per);
/* The number of chunks, from `least` to `most`, into which planes are cut so that a launch takes
 * the least time. */
int64_t ambit__blocks_chunks(int64_t least, int64_t most,
                             double (*time)(const void *user, double chunks), const void *user);

/* ---- writing ---- */

/* So many threads for a block, or if the device allows fewer, the half of that, and so on. */
int ambit__gpucode_threads(const ambit__target *t, int most);
/* A rough cost of a thread per cell: about half of the memory bandwidth of a large GPU. */
double ambit__gpucode_cell_cost(const ambit__group *g, const ambit__target *t,
                                const ambit__plan *p);
/* "kernel void name(...) {", with the parameters in `slots` and `threads` threads per block. */
void ambit__gpucode_open_kernel(const ambit__nest *nest, const ambit__plan *p, const char *tail,
                                const int threads[3], int n, const ambit__gpucode_slot *slots,
                                ambit__writer *w);
/* The launch that the launch line of a strategy says. */
void ambit__gpucode_shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                          ambit__shape *shape);
/* sparse.c: the units that a block has, if there are so many in all. */
int64_t ambit__sparse_share(const ambit__plan *p, int64_t units);

#endif
