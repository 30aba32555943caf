/* boundary.h - what a read outside the grid gives.
 *
 * A read is resolved one axis at a time, each axis on its own: an index outside is mapped to an
 * index inside, or the axis says "constant". If several axes say constant, the last one's value
 * counts. This is the definition that docs/boundaries.md gives to users; ghost cells are only the
 * fast way to it, and the reference device does without them.
 */
#ifndef AMBIT_GRID_BOUNDARY_H
#define AMBIT_GRID_BOUNDARY_H

#include "grid/box.h"

typedef struct ambit__boundaries {
  ambit_boundary kind[AMBIT_MAX_DIMS][2]; /* per axis and side */
  double value[AMBIT_MAX_DIMS][2];        /* of AMBIT_CONSTANT */
} ambit__boundaries;

/* The index inside 0..extent-1 that index i stands for on an axis with boundary `kind`, which is none of
 * AMBIT_NONE, AMBIT_CONSTANT and AMBIT_FIXED; i may be any number of extents outside. */
int64_t ambit__boundary_map(ambit_boundary kind, int64_t extent, int64_t i);

/* Maps a cell, in place, into the grid. Returns false when it is constant: then *value holds what it is. The
 * faces crossed must not be AMBIT_NONE or AMBIT_FIXED. */
bool ambit__boundaries_map(const ambit__boundaries *b, int ndims, const int64_t *extents,
                           int64_t *cell, double *value);

/* Whether both give the same everywhere. */
bool ambit__boundaries_equal(const ambit__boundaries *a, const ambit__boundaries *b);

/* "periodic" and so on; never NULL. And back: returns false for an unknown name. */
const char *ambit__boundary_name(ambit_boundary kind);
bool ambit__boundary_find(const char *name, size_t length, ambit_boundary *kind);

#endif
