/* SPDX-License-Identifier: BSD-3-Clause */
/* partition.h - a partition of a grid: a list of boxes that tile it.
 *
 * Part k is block k in row-major order. Parts may be empty: more parts than cells, or a weight of
 * zero.
 */
#ifndef AMBIT_GRID_PARTITION_H
#define AMBIT_GRID_PARTITION_H

#include "base/error.h"
#include "base/text.h"
#include "grid/box.h"

/* The cost of halo exchange on a device, in units of one cell update. */
typedef struct ambit__comm_cost {
  double cell;    /* per cell sent */
  double line;    /* extra per cell that is alone on its cache line */
  double message; /* per message, independent of its size */
  bool overlaps;  /* exchange overlaps computation; only the excess costs */
} ambit__comm_cost;

/* For CPUs: a cell is packed, copied by MPI and unpacked; `line` is for a cache line of 16
 * floats. */
#define AMBIT__CORES_COMM_COST                                                                     \
  {                                                                                                \
    .cell = 8, .line = 120                                                                         \
  }

/* The number of blocks along each axis. */
typedef struct ambit__cuts {
  int n;                      /* axes given, the others are not cut; 0: auto */
  int count[AMBIT_MAX_DIMS];  /* blocks along axes 0..n-1, at least 1 each */
  ambit__comm_cost comm_cost; /* for auto: costs to minimise */
} ambit__cuts;

/* Parses "auto", "4" (bands along axis 0), "2x2", "1x2x3", with the costs of CPUs. Returns false if
 * the text is invalid. */
bool ambit__cuts_parse(const char *text, ambit__cuts *cuts);

/* Cuts `grid` into nparts boxes with cells in proportion to `weights` (NULL: equal weights). The
 * product of cuts, if given, must be nparts; cuts NULL means auto. */
ambit_status ambit__partition_make(ambit__errors *errors, const ambit__box *grid, int nparts,
                                   const ambit__cuts *cuts, const double *weights,
                                   ambit__box *parts);

/* The part that owns the cell, or -1. */
int ambit__partition_owner(const ambit__box *parts, int nparts, const int64_t *cell);

/* Draws the owner of every cell, a character per cell or, for large grids, per block of cells. A
 * line of text is a row:
 *
 *        00001111
 *        00001111
 *        22223333
 *
 * Grids of three and more axes are drawn plane by plane; identical planes are drawn once. */
void ambit__partition_print(ambit__text *t, const ambit__box *grid, const ambit__box *parts,
                            int nparts);

#endif
