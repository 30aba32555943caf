/* halo.h - what a part keeps of others, and who sends it.
 *
 * From the parts, the boundaries of a field and all reads of it follow, for each part, two boxes
 *
 *        +---------------------+   reach   everything that is read, and own
 *        |  +---------------+  |   given   of that, what is there before ghosts are filled: own cells and the halo. What
 *        |  | halo +-----+  |  |           of the reach is not given lies outside the grid, and is filled from what
 *        |  |      | own |  |  |           is given, axis by axis: along axis d, for the reach of the axes before d and
 *        |  |      +-----+  |  |           what is given of those after it
 *        |  +---------------+  |
 *        +---------------------+
 *
 * and the transfers that bring the halo: exactly what some read needs, itself or as source of a ghost, rounded to one box for each
 * of the 3^n - 1 directions around the part. On a periodic axis that a part does not span, the halo goes on beyond the
 * grid; a transfer then has a shift, and if the wrap comes round to the part itself, it is from the part to itself. Other
 * boundaries are ghosts; a part too thin to own the cells they copy gets those as halo.
 */
#ifndef AMBIT_GRID_HALO_H
#define AMBIT_GRID_HALO_H

#include "base/error.h"
#include "grid/boundary.h"

/* Cells around the own ones of a part: how many layers before and after them, along each axis. */
typedef struct ambit__layers {
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS];
} ambit__layers;

/* Reads of a field: a part updates its own cells and `beyond` layers around them, as far as they are
 * in `region`, and each reads all cells at offsets lo to hi, both included, from it. Along an axis
 * that is periodic and cut, and of which the region has all, the layers go on beyond the grid. A
 * stencil is a few such boxes (ambit__needs_add): a full one is one box, a star in n dimensions
 * 2 n - 1. */
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
} ambit__needs;

/* Adds the reads of `what`, a region and the layers beyond, at `n` offsets, joined to boxes that hold exactly these. A
 * box that the list has already is not added again, nor is the cell itself. */
ambit_status ambit__needs_add(ambit__errors *errors, ambit__needs *needs, const ambit__need *what,
                              const int (*offsets)[AMBIT_MAX_DIMS], int n);
/* Whether every read of b is one of a. */
bool ambit__needs_cover(const ambit__needs *a, const ambit__needs *b);
void ambit__needs_free(ambit__needs *needs);

typedef struct ambit__reach {
  ambit__box given; /* own cells and halo: within the reach */
  ambit__box reach; /* all that is kept */
} ambit__reach;

typedef struct ambit__transfer {
  int from, to;                  /* parts; may be the same */
  ambit__box box;                /* own cells of `from` */
  int64_t shift[AMBIT_MAX_DIMS]; /* part `to` keeps them at box + shift; not 0: beyond the grid */
} ambit__transfer;

/* What a halo follows from. No read may cross a face that is AMBIT_NONE or AMBIT_FIXED. */
typedef struct ambit__halo_spec {
  const ambit__box *grid;  /* begins at 0 */
  const ambit__box *parts; /* nparts boxes that tile it */
  int nparts;
  const ambit__boundaries *boundaries;
  const ambit__need *needs; /* all reads of the field */
  int nneeds;
  const bool *mine; /* per part: only transfers from or to these are wanted; NULL: all */
} ambit__halo_spec;

typedef struct ambit__halo {
  ambit__reach *reaches; /* per part, of all parts; of an empty part: empty */
  ambit__transfer
      *transfers;    /* by `to`, then by `from`: in the same order wherever it is computed */
  size_t count, cap; /* of transfers */
} ambit__halo;

/* Free the halo, also after a failure. */
ambit_status ambit__halo_make(ambit__errors *errors, const ambit__halo_spec *spec,
                              ambit__halo *halo);
void ambit__halo_free(ambit__halo *halo);

#endif
