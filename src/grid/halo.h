/* SPDX-License-Identifier: BSD-3-Clause */
/* halo.h - the halo of each part, and the transfers that fill it.
 *
 * The parts, the boundaries of a field and all reads of it determine two boxes for each part
 *
 *        +---------------------+   reach   all cells that are read, and the own cells
 *        |  +---------------+  |   given   the cells of it that hold values before ghost cells are
 *        |  | halo +-----+  |  |           filled: own cells and the halo. The rest lies outside
 *        |  |      | own |  |  |           the grid: ghost cells, filled from given cells, axis by
 *        |  |      +-----+  |  |           axis: along axis d, for the reach of the axes before d
 *        |  +---------------+  |           and the given cells of the axes after d
 *        +---------------------+
 *
 * and the transfers that fill the halo. These are the cells that some read needs, directly or as
 * the source of a ghost cell, rounded up to one box for each of the 3^n - 1 directions around the
 * part. On a periodic axis that a part does not span, the halo continues beyond the grid. A
 * transfer then has a shift; if it wraps around to the part itself, the part sends to itself. Other
 * boundaries are ghost cells. If a part is too thin to own the cells that they copy, it gets these
 * as halo.
 */
#ifndef AMBIT_GRID_HALO_H
#define AMBIT_GRID_HALO_H

#include "base/index.h"
#include "grid/boundary.h"

/* Reads of a field. A part updates its own cells and `beyond` layers around them, as far as they
 * are in `region`, and each of these cells reads all cells at offsets lo to hi, inclusive. Along an
 * axis that is periodic and cut, and that the region spans, the layers continue beyond the grid. A
 * stencil consists of a few such boxes (ambit__needs_add): a full one of one box, a star in n
 * dimensions of 2 n - 1. */
typedef struct ambit__need {
  ambit__box region;
  ambit__layers beyond;
  const ambit__boundaries *boundaries;        /* of these reads; NULL: those of the spec */
  int lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS]; /* unused axes are 0 */
} ambit__need;

typedef struct ambit__needs {
  ambit__need *list; /* owned */
  int n;
  size_t cap;
  ambit__index regions; /* finds the needs of a region */
} ambit__needs;

/* Adds the reads of `what`, a region and layers beyond it, at `n` offsets, joined to boxes that
 * contain exactly these offsets. Skips boxes that the list already has, and the cell itself. */
ambit_status ambit__needs_add(ambit__errors *errors, ambit__needs *needs, const ambit__need *what,
                              const int (*offsets)[AMBIT_MAX_DIMS], int n);
/* Whether every read of b is one of a. */
bool ambit__needs_cover(const ambit__needs *a, const ambit__needs *b);
void ambit__needs_free(ambit__needs *needs);

typedef struct ambit__reach {
  ambit__box given; /* own cells and halo; contained in the reach */
  ambit__box reach; /* all cells that the part stores */
} ambit__reach;

typedef struct ambit__transfer {
  int from, to;                  /* parts; may be the same */
  ambit__box box;                /* own cells of `from` */
  int64_t cells;                 /* their number; on a sparse grid, of active ones */
  int64_t shift[AMBIT_MAX_DIMS]; /* part `to` stores them at box + shift; not 0: beyond the grid */
} ambit__transfer;

/* The input of a halo. No read may cross a face that is AMBIT_NONE or AMBIT_FIXED. */
typedef struct ambit__halo_spec {
  const ambit__box *grid;  /* starts at 0 */
  const ambit__box *parts; /* nparts boxes that tile it */
  int nparts;
  const ambit__boundaries *boundaries;
  const ambit__need *needs; /* all reads of the field */
  int nneeds;
  const bool *mine; /* by part: only transfers from or to these are needed; NULL: all */
} ambit__halo_spec;

typedef struct ambit__halo {
  ambit__reach *reaches; /* by part, of all processes; empty for an empty part */
  ambit__transfer
      *transfers;    /* sorted by `to`, then by `from`: the order is the same on all processes */
  size_t count, cap; /* of transfers */
} ambit__halo;

/* The caller frees the halo, also after a failure. */
ambit_status ambit__halo_make(ambit__errors *errors, const ambit__halo_spec *spec,
                              ambit__halo *halo);
void ambit__halo_free(ambit__halo *halo);

#endif
