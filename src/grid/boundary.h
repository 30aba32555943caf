/* SPDX-License-Identifier: BSD-3-Clause */
/* boundary.h - the value of a read outside the grid.
 *
 * A read is resolved axis by axis, independently: an index outside is mapped to an index inside, or
 * the axis gives a constant. If several axes give a constant, the last axis wins. This is the
 * definition in docs/boundaries.md. Ghost cells are an optimised implementation of it; the
 * reference device evaluates it directly.
 */
#ifndef AMBIT_GRID_BOUNDARY_H
#define AMBIT_GRID_BOUNDARY_H

#include "grid/box.h"

typedef struct ambit__boundaries {
  ambit_boundary kind[AMBIT_MAX_DIMS][2]; /* per axis and side */
  double value[AMBIT_MAX_DIMS][2];        /* for AMBIT_CONSTANT, and for `on` */
  /* Steps correct values beyond the face (program/faces.c): AMBIT_DIRICHLET or AMBIT_NEUMANN, where
   * `kind` is symmetric; AMBIT_CONSTANT: by an object; AMBIT_NONE: they do not */
  ambit_boundary on[AMBIT_MAX_DIMS][2];
  ambit_boundary inactive; /* of inactive cells: AMBIT_NONE, AMBIT_CONSTANT, or AMBIT_CLAMP, to the
                              cell that reads */
  double fill;             /* their value, for AMBIT_CONSTANT and for users */
} ambit__boundaries;

/* Whether cells beyond a face of this kind stand for others of the grid. */
static inline bool ambit__boundary_copies(ambit_boundary kind)
{
  return kind != AMBIT_NONE && kind != AMBIT_CONSTANT && kind != AMBIT_FIXED;
}

/* Maps index i, any number of extents outside, to the index in 0..extent-1 that it stands for on an
 * axis with boundary `kind`, which must be one that copies. */
int64_t ambit__boundary_map(ambit_boundary kind, int64_t extent, int64_t i);

/* Whether the value of that cell changes its sign, an odd number of mirrors being between. And the
 * same for a cell and all its axes. */
bool ambit__boundary_negates(ambit_boundary kind, int64_t extent, int64_t i);
bool ambit__boundaries_negate(const ambit__boundaries *b, int ndims, const int64_t *extents,
                              const int64_t *cell);

/* Maps a cell into the grid, in place. Returns false if it is constant, with its value in *value.
 * The faces crossed must not be AMBIT_NONE or AMBIT_FIXED. */
bool ambit__boundaries_map(const ambit__boundaries *b, int ndims, const int64_t *extents,
                           int64_t *cell, double *value);

/* Constants are compared by their bits. */
bool ambit__boundaries_equal(const ambit__boundaries *a, const ambit__boundaries *b);

/* "periodic" and so on; never NULL. And the inverse: returns false for an unknown name. */
const char *ambit__boundary_name(ambit_boundary kind);
/* Faces of a grid of so many axes. Those of all further axes together do no harm, so that parts of
 * AMBIT_ALL_FACES can be taken away; single ones do. */
bool ambit__faces_fit(unsigned faces, int ndims);
/* "AMBIT_LOW(0) | AMBIT_AXIS(2)", as a program writes them; at most `size` bytes. */
void ambit__faces_print(unsigned faces, char *text, size_t size);
bool ambit__boundary_find(const char *name, size_t length, ambit_boundary *kind);

#endif
