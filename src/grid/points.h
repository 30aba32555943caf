/* SPDX-License-Identifier: BSD-3-Clause */
/* points.h - places anywhere in a grid, and the cells around them with their weights.
 *
 * A point has a base cell and one weight for each of its taps: the cells base + o, where 0 <= o[d]
 * < width[d], in row-major order. Linear interpolation in two dimensions has four:
 *
 *        base . . . . tap 1        a coordinate is counted in cells: cell i is at i
 *          .   x       .
 *        tap 2  . . . tap 3        the part with the base cell has the point
 *
 * The value of a field at a point is ((w0 u0 + w1 u1) + w2 u2) + ..., in this order. What points
 * add to a cell is added in the order of the points. So results depend on no partition.
 */
#ifndef AMBIT_GRID_POINTS_H
#define AMBIT_GRID_POINTS_H

#include "base/error.h"
#include "base/memory.h"
#include "grid/box.h"

/* Cells in row-major order, each with a range of entries. */
typedef struct ambit__point_cells {
  int ndims;
  int64_t n;
  int64_t *index;  /* n x ndims */
  int64_t *start;  /* n + 1: the first entry of each */
  int64_t *point;  /* by entry */
  double *weights; /* by entry: one weight, or the first of `taps` of them */
  ambit__box hull; /* contains the cells; empty if there are none */
} ambit__point_cells;

typedef struct ambit__points {
  ambit__arena memory; /* of all arrays */
  int ndims;
  int64_t n;
  int64_t width[AMBIT_MAX_DIMS]; /* of the taps */
  int64_t taps;                  /* the product of the widths */
  int64_t *base;                 /* n x ndims */
  double *weights;               /* n x taps */
  ambit__point_cells bases;      /* base cells, each with its points; their weights: all taps */
  ambit__point_cells touched;    /* all cells of taps; points of one cell are in order */
} ambit__points;

typedef enum ambit__point_kind { POINT_NEAREST, POINT_LINEAR } ambit__point_kind;

/* Points at n x ndims coordinates in a grid of these extents; and those with given base cells and
 * weights. Raises AMBIT_EINVAL for the first point outside, `first` being the number that messages
 * count from. The caller frees them, after failures too. */
ambit_status ambit__points_place(ambit__errors *errors, const ambit__box *grid, int64_t n,
                                 const double *coordinates, ambit__point_kind kind,
                                 ambit__points *p);
ambit_status ambit__points_give(ambit__errors *errors, const ambit__box *grid, int64_t n,
                                const int64_t *base, const int64_t *width, const double *weights,
                                ambit__points *p);
void ambit__points_free(ambit__points *p);
/* The cell of a tap of a point. */
void ambit__points_tap(const ambit__points *p, int64_t point, int64_t tap, int64_t *cell);

/* The first cell from number `i` on that lies in a box; n: there is none. */
int64_t ambit__point_cells_next(const ambit__point_cells *c, const ambit__box *box, int64_t i);

#endif
