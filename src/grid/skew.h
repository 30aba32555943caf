/* SPDX-License-Identifier: BSD-3-Clause */
/* skew.h - stages that run in one pass over a grid, each some cells behind the ones before it.
 *
 * A pass advances along an axis block by block, and does all stages of a block before the next.
 * A stage with lag L computes cells f - L .. f - L + block - 1 when the front is at f. So it comes
 * after all cells that it reads and earlier stages wrote, and after all reads of the values that it
 * overwrites:
 *
 *        stage 0   ###########|
 *        stage 1   ##########|         lag 1: it reads one cell ahead
 *        stage 2   #########|          lag 2
 *                             ^ front
 *
 * Where an axis is cut between two owners that run at the same time, each leaves out the cells that
 * depend on the other: `lead` cells after the cut, `lag` cells before it. These are done when both
 * are finished:
 *
 *                    cut
 *        stage 0  ####|####
 *        stage 1  ###  .###
 *        stage 2  ##     ##
 */
#ifndef AMBIT_GRID_SKEW_H
#define AMBIT_GRID_SKEW_H

#include "grid/box.h"

/* A stage reads or writes a buffer, at a cell or up to this far from it. */
typedef struct ambit__access {
  int buffer;
  bool writes;
  int64_t low[AMBIT_MAX_DIMS], high[AMBIT_MAX_DIMS];
} ambit__access;

typedef struct ambit__skew {
  int64_t lag[AMBIT_MAX_DIMS], lead[AMBIT_MAX_DIMS];
} ambit__skew;

/* The requirements of the stages so far on a later one that reads, or that writes, a buffer. All
 * are 0 at the start. */
typedef struct ambit__skew_buffer {
  bool written, used;
  ambit__skew to_read, to_write; /* if it was written, and if it was used at all */
} ambit__skew_buffer;

/* The skew of the next stage. Lags are multiples of `unit`, per axis. Updates the buffers. */
ambit__skew ambit__skew_next(const ambit__access *accesses, int n, const int64_t *unit,
                             ambit__skew_buffer *buffers);

#endif
