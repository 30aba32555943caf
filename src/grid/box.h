/* SPDX-License-Identifier: BSD-3-Clause */
/* box.h - integer boxes: the arithmetic of grids, parts, halos and borders.
 *
 * A box is the set of cells lo[d] <= i[d] < hi[d]. It is empty if it is empty along any axis.
 * Nothing here depends on memory, devices or messages.
 */
#ifndef AMBIT_GRID_BOX_H
#define AMBIT_GRID_BOX_H

#include "ambit.h"

#include <stdbool.h>

typedef struct ambit__box {
  int ndims;                  /* number of axes in use, 1..AMBIT_MAX_DIMS */
  int64_t lo[AMBIT_MAX_DIMS]; /* first cell */
  int64_t hi[AMBIT_MAX_DIMS]; /* one past the last cell */
} ambit__box;

/* Layers of cells around the own cells of a part, below and above them along each axis. */
typedef struct ambit__layers {
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS];
} ambit__layers;

ambit__box ambit__box_of_extents(int ndims, const int64_t *extents);
bool ambit__box_is_empty(const ambit__box *b);
int64_t ambit__box_volume(const ambit__box *b);
bool ambit__box_equal(const ambit__box *a, const ambit__box *b);
bool ambit__box_contains(const ambit__box *outer, const ambit__box *inner);
ambit__box ambit__box_intersect(const ambit__box *a, const ambit__box *b);
/* Its projection: one cell, 0, along the axes of a set (bit d: axis d), unless it is empty. */
ambit__box ambit__box_project(const ambit__box *b, unsigned dropped);
/* The smallest box that contains both; empty boxes are ignored. */
ambit__box ambit__box_hull(const ambit__box *a, const ambit__box *b);
ambit__box ambit__box_shift(const ambit__box *b, const int *offset);
ambit__box ambit__box_move(const ambit__box *b,
                           const int64_t *shift); /* the same with 64-bit offsets */

/* The outermost layer of cells at a face:
 *
 *        axis 0, side 0       axis 1, side 1
 *        +----------+         +--------+-+
 *        |##########|         |        |#|
 *        +----------+         |        |#|
 *        |          |         |        |#|
 *        +----------+         +--------+-+
 */
ambit__box ambit__box_layer(const ambit__box *b, int axis, int side);

/* Cuts `whole` minus `inner` into disjoint boxes, at most two per axis, and returns their number.
 * The boxes of axis 0 come first and have the full width, which keeps rows long:
 *
 *        +----------+
 *        |    0     |
 *        +-+------+-+
 *        |2|inner |3|
 *        +-+------+-+
 *        |    1     |
 *        +----------+
 */
int ambit__box_split(const ambit__box *whole, const ambit__box *inner,
                     ambit__box rest[2 * AMBIT_MAX_DIMS]);

bool ambit__box_has(const ambit__box *b, const int64_t *cell);
/* The number of a cell among those of a box, in row-major order. */
int64_t ambit__box_number(const ambit__box *b, const int64_t *cell);
bool ambit__offset_is_zero(const int *offset);

/* Iterates over the rows of a non-empty box (runs of cells along the last axis). `at` starts at
 * b->lo; returns false after the last row:
 *
 *   ambit__box_first(b, at); do { ... } while (ambit__box_next_row(b, at));
 */
void ambit__box_first(const ambit__box *b, int64_t *at);
bool ambit__box_next_row(const ambit__box *b, int64_t *at);
/* The runs of cells of a box that are adjacent in an array of the cells of `all`, from 0 on: their
 * first cells, as the rows of a box, and their length. */
int64_t ambit__box_runs(const ambit__box *all, const ambit__box *b, ambit__box *starts);

/* Iterates over a box in pieces of at most `most` cells (at least one), which are boxes themselves:
 * whole planes or rows where they fit, else parts of rows. Cells are visited in row-major order.
 *
 *   ambit__box_first_piece(b, most, &p); do { ... } while (ambit__box_next_piece(b, most, &p));
 */
void ambit__box_first_piece(const ambit__box *b, int64_t most, ambit__box *piece);
bool ambit__box_next_piece(const ambit__box *b, int64_t most, ambit__box *piece);

/* The axis of a sweep: a number that is 1 + axis where cells run in order from the low face,
 * -(1 + axis) from the high one, and 0 where they run in any order (-1: no axis). */
static inline int ambit__sweep_axis(int sweep)
{
  return (sweep < 0 ? -sweep : sweep) - 1;
}

/* The place of an axis in an order in which axis turn - 1 comes last, and all others stay in
 * theirs; and the axis at a place. turn 0: axes stay as they are. */
static inline int ambit__turned_axis(int axis, int turn, int ndims)
{
  if (!turn || axis < turn - 1) return axis;
  return axis == turn - 1 ? ndims - 1 : axis - 1;
}
static inline int ambit__turned_back(int place, int turn, int ndims)
{
  if (!turn || place < turn - 1) return place;
  return place == ndims - 1 ? turn - 1 : place + 1;
}
ambit__box ambit__box_turn(const ambit__box *b, int turn);

/* Prints "[0,4)x[2,7)" into text of `size` bytes. */
void ambit__box_print(const ambit__box *b, char *text, size_t size);

#endif
