/* SPDX-License-Identifier: BSD-3-Clause */
/* fused.h - the strategy `fused`. fused.c chooses the plan, fused_job.c finds the rows to keep,
 * fused_shape.c has the launch, fused_emit.c writes the kernel, fused_stage.c the work of a stage.
 *
 * Terms: x is the last axis; along it each lane of a warp owns V cells. z is the axis along which a
 * warp advances, one row per turn. At a turn all stages compute one row each, a stage as many rows
 * behind the newest row as the stages before it read ahead: its lag. A tile is a strip of columns
 * and a chunk of rows. Strips and chunks overlap, since the cells beside a tile are computed again.
 * Tiles at the faces of the grid run code of their own, which knows the boundaries.
 */
#ifndef AMBIT_PLAN_FUSED_H
#define AMBIT_PLAN_FUSED_H

#include "plan/gpu.h"
#include "plan/pipeline.h"

enum {
  AMBIT__FUSED_WARP = 32,
  AMBIT__FUSED_EDGE = 2 /* blocks per chunk of a strip at a face */
};

/* Rows and columns beside those of the results that must be right. */
typedef struct ambit__fused_cells {
  int low, high, left, right;
} ambit__fused_cells;

/* The rows of a value that a warp keeps. */
typedef struct ambit__fused_value {
  int lag;         /* of the row that is new in a turn */
  int last;        /* lag of the oldest row that is read */
  int left, right; /* cells of adjacent lanes that are read, */
  int shared;      /* in rows from this lag on; -1: none are */
  int low, high;   /* reach of reads along z */
  ambit__fused_cells beside;
} ambit__fused_value;

typedef struct ambit__fused_stage {
  int lag;
  /* A weighted sum whose partial results are kept instead of the rows they depend on. */
  ambit__tap *taps; /* NULL: the stage is no such sum; owned */
  int ntaps, low, high;
  int value, result; /* the value it sums, and the value it computes */
  ambit__fused_cells beside;
} ambit__fused_stage;

/* The parameters of a plan applied to a pipeline; one for each of the two codes. */
typedef struct ambit__fused_job {
  ambit__gpucode_job gpu;
  const ambit__pipeline *pipe;
  bool edge;         /* the code for tiles at faces */
  int x, z;          /* the axes */
  int lane;          /* V */
  int period;        /* turns after which the same registers are used again */
  int ahead;         /* rows loaded in advance */
  int lead, drain;   /* turns before the first result is complete, counted by its row, and after */
  int below, above;  /* rows that are loaded before and after those of the tile */
  int before, after; /* columns of a strip that are not stored: multiples of V */
  ambit__fused_value values[AMBIT__PIPE_VALUES];
  ambit__fused_stage stages[AMBIT__PIPE_STAGES];
} ambit__fused_job;

/* ---- fused_job.c ---- */

/* Fills in all but `gpu`. false: it reads too far, or memory ran out. Release with
 * ambit__fused_end, also then. */
bool ambit__fused_begin(const ambit__group *g, const ambit__plan *p, bool edge,
                        ambit__fused_job *j);
void ambit__fused_end(ambit__fused_job *j);
int ambit__fused_registers(const ambit__fused_job *j); /* of a thread, approximately */

/* The columns that a warp of the code stores. */
static inline int ambit__fused_useful(const ambit__fused_job *j)
{
  return AMBIT__FUSED_WARP * j->lane - j->before - j->after;
}

/* Layers at a face that some stage does not compute. */
int ambit__fused_inset(const ambit__pipeline *p, int axis, int side);

/* ---- fused_stage.c ---- */

void ambit__fused_print_row(const ambit__fused_job *j, int value, int lag);
void ambit__fused_declare_stage(const ambit__fused_job *j, int stage); /* its partial results */
void ambit__fused_emit_stage(const ambit__fused_job *j, int stage);

/* ---- fused_shape.c ---- */

/* The number of chunks that rows are cut into. */
int64_t ambit__fused_chunks(const ambit__fused_job *j, const ambit__plan *p, int64_t rows,
                            int64_t strips);
void ambit__fused_shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                        ambit__shape *shape);

/* ---- fused_emit.c ---- */

void ambit__fused_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                       ambit__writer *w);

#endif
