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

/* A read: the cells of `region` are updated, and each reads the cell at `offset` from it. */
typedef struct ambit__need {
  ambit__box region;
  int offset[AMBIT_MAX_DIMS];
} ambit__need;

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
