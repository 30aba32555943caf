/* partition.h - a grid cut into parts: a list of boxes that tile it.
 *
 * Part number k is block number k in C order. Parts may be empty: more parts than cells, or a weight of zero.
 */
#ifndef AMBIT_GRID_PARTITION_H
#define AMBIT_GRID_PARTITION_H

#include "base/error.h"
#include "base/text.h"
#include "grid/box.h"

/* What it costs a device to send, in cells that it would have updated meanwhile. */
typedef struct ambit__toll {
  double cell;    /* that is sent */
  double line;    /* more for one that is alone in its line of memory */
  double message; /* however small */
  bool beside;    /* it goes on beside computing, and costs what it takes longer than that */
} ambit__toll;

/* Of cores: a cell is packed, copied by MPI and unpacked, or reaches out for a line of 16 floats. */
#define AMBIT__CORES_TOLL                                                                          \
  {                                                                                                \
    .cell = 8, .line = 120                                                                         \
  }

/* How many blocks along each axis. */
typedef struct ambit__cuts {
  int n;                     /* axes given, the rest are whole; 0: auto */
  int count[AMBIT_MAX_DIMS]; /* blocks along axes 0..n-1, at least 1 each */
  ambit__toll toll;          /* auto: what the cuts should spare */
} ambit__cuts;

/* Reads "auto", "4" (bands along axis 0), "2x2", "1x2x3"; the toll is that of cores. Returns false when it is none of these. */
bool ambit__cuts_parse(const char *text, ambit__cuts *cuts);

/* Cuts `grid` into nparts boxes, each with its share of the cells: in proportion to `weights` (NULL: alike).
 * The product of cuts, if given, must be nparts; cuts NULL is auto. */
ambit_status ambit__partition_make(ambit__errors *errors, const ambit__box *grid, int nparts,
                                   const ambit__cuts *cuts, const double *weights,
                                   ambit__box *parts);

/* The part that has the cell, or -1. */
int ambit__partition_owner(const ambit__box *parts, int nparts, const int64_t *cell);

/* Draws who owns what, a character per cell or, for large grids, per block of cells; rows are the last axis:
 *
 *        00001111
 *        00001111
 *        22223333
 *
 * Grids of three and more axes are drawn plane by plane, planes that look alike once. */
void ambit__partition_print(ambit__text *t, const ambit__box *grid, const ambit__box *parts,
                            int nparts);

#endif
