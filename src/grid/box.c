/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/box.h"

#include "base/integers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

ambit__box ambit__box_of_extents(int ndims, const int64_t *extents)
{
  ambit__box b = {.ndims = ndims};

  memcpy(b.hi, extents, (size_t)ndims * sizeof *extents);
  return b;
}

bool ambit__box_is_empty(const ambit__box *b)
{
  for (int d = 0; d < b->ndims; d++)
    if (b->hi[d] <= b->lo[d]) return true;
  return false;
}

int64_t ambit__box_volume(const ambit__box *b)
{
  int64_t n = 1;

  if (ambit__box_is_empty(b)) return 0;
  for (int d = 0; d < b->ndims; d++)
    n *= b->hi[d] - b->lo[d];
  return n;
}

bool ambit__box_equal(const ambit__box *a, const ambit__box *b)
{
  if (a->ndims != b->ndims) return false;
  for (int d = 0; d < a->ndims; d++)
    if (a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d]) return false;
  return true;
}

bool ambit__box_contains(const ambit__box *outer, const ambit__box *inner)
{
  if (ambit__box_is_empty(inner)) return true;
  for (int d = 0; d < outer->ndims; d++)
    if (inner->lo[d] < outer->lo[d] || inner->hi[d] > outer->hi[d]) return false;
  return true;
}

ambit__box ambit__box_project(const ambit__box *b, unsigned dropped)
{
  ambit__box p = *b;

  for (int d = 0; d < b->ndims && !ambit__box_is_empty(b); d++)
    if (dropped >> d & 1) {
      p.lo[d] = 0;
      p.hi[d] = 1;
    }
  return p;
}

bool ambit__box_has(const ambit__box *b, const int64_t *cell)
{
  for (int d = 0; d < b->ndims; d++)
    if (cell[d] < b->lo[d] || cell[d] >= b->hi[d]) return false;
  return true;
}

int64_t ambit__box_number(const ambit__box *b, const int64_t *cell)
{
  int64_t n = 0;

  for (int d = 0; d < b->ndims; d++)
    n = n * (b->hi[d] - b->lo[d]) + cell[d] - b->lo[d];
  return n;
}

bool ambit__offset_is_zero(const int *offset)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (offset[d]) return false;
  return true;
}

ambit__box ambit__box_intersect(const ambit__box *a, const ambit__box *b)
{
  ambit__box c = {.ndims = a->ndims};

  for (int d = 0; d < a->ndims; d++) {
    c.lo[d] = ambit__max64(a->lo[d], b->lo[d]);
    c.hi[d] = ambit__min64(a->hi[d], b->hi[d]);
  }
  return c;
}

ambit__box ambit__box_hull(const ambit__box *a, const ambit__box *b)
{
  ambit__box c = *a;

  if (ambit__box_is_empty(b)) return *a;
  if (ambit__box_is_empty(a)) return *b;
  for (int d = 0; d < a->ndims; d++) {
    c.lo[d] = ambit__min64(a->lo[d], b->lo[d]);
    c.hi[d] = ambit__max64(a->hi[d], b->hi[d]);
  }
  return c;
}

ambit__box ambit__box_shift(const ambit__box *b, const int *offset)
{
  ambit__box c = *b;

  for (int d = 0; d < b->ndims; d++) {
    c.lo[d] += offset[d];
    c.hi[d] += offset[d];
  }
  return c;
}

ambit__box ambit__box_move(const ambit__box *b, const int64_t *shift)
{
  ambit__box to = *b;

  for (int d = 0; d < b->ndims; d++) {
    to.lo[d] += shift[d];
    to.hi[d] += shift[d];
  }
  return to;
}

ambit__box ambit__box_layer(const ambit__box *b, int axis, int side)
{
  ambit__box c = *b;

  if (side == 0)
    c.hi[axis] = ambit__min64(b->hi[axis], b->lo[axis] + 1);
  else
    c.lo[axis] = ambit__max64(b->lo[axis], b->hi[axis] - 1);
  return c;
}

int ambit__box_split(const ambit__box *whole, const ambit__box *inner,
                     ambit__box rest[2 * AMBIT_MAX_DIMS])
{
  const ambit__box hole = ambit__box_intersect(whole, inner);
  ambit__box left = *whole;
  int n = 0;

  if (ambit__box_is_empty(whole)) return 0;
  if (ambit__box_is_empty(&hole)) {
    rest[0] = *whole;
    return 1;
  }
  for (int d = 0; d < whole->ndims; d++) {
    ambit__box before = left, after = left;

    before.hi[d] = left.lo[d] = hole.lo[d];
    after.lo[d] = left.hi[d] = hole.hi[d];
    if (!ambit__box_is_empty(&before)) rest[n++] = before;
    if (!ambit__box_is_empty(&after)) rest[n++] = after;
  }
  return n;
}

void ambit__box_first(const ambit__box *b, int64_t *at)
{
  memcpy(at, b->lo, (size_t)b->ndims * sizeof *at);
}

bool ambit__box_next_row(const ambit__box *b, int64_t *at)
{
  for (int d = b->ndims - 2; d >= 0; d--) {
    if (++at[d] < b->hi[d]) return true;
    at[d] = b->lo[d];
  }
  return false;
}

int64_t ambit__box_runs(const ambit__box *all, const ambit__box *b, ambit__box *starts)
{
  int64_t cells = 1;
  int d = b->ndims - 1;

  *starts = *b;
  for (;; d--) {
    cells *= b->hi[d] - b->lo[d];
    starts->hi[d] = starts->lo[d] + 1;
    if (d == 0 || b->lo[d] > 0 || b->hi[d] < all->hi[d]) return cells;
  }
}

/* The axis along which pieces are cut, and the cells of a piece along it. */
static int piece_axis(const ambit__box *b, int64_t most, int64_t *cells)
{
  int64_t inner = 1;

  *cells = 1;
  for (int d = b->ndims - 1; d >= 0; d--) {
    int64_t extent = b->hi[d] - b->lo[d];

    *cells = ambit__max64(1, ambit__min64(extent, most / inner));
    if (*cells < extent) return d;
    inner *= extent;
  }
  return 0;
}

void ambit__box_first_piece(const ambit__box *b, int64_t most, ambit__box *piece)
{
  int64_t cells;
  int axis = piece_axis(b, most, &cells);

  *piece = *b;
  piece->hi[axis] = b->lo[axis] + cells;
  for (int d = 0; d < axis; d++)
    piece->hi[d] = b->lo[d] + 1;
}

bool ambit__box_next_piece(const ambit__box *b, int64_t most, ambit__box *piece)
{
  int64_t cells;
  int axis = piece_axis(b, most, &cells);

  for (int d = axis; d >= 0; d--) {
    int64_t step = d == axis ? cells : 1;

    piece->lo[d] += step;
    piece->hi[d] = ambit__min64(piece->lo[d] + step, b->hi[d]);
    if (piece->lo[d] < b->hi[d]) return true;
    piece->lo[d] = b->lo[d];
    piece->hi[d] = ambit__min64(b->lo[d] + step, b->hi[d]);
  }
  return false;
}

ambit__box ambit__box_turn(const ambit__box *b, int turn)
{
  ambit__box turned = *b;

  for (int d = 0; d < b->ndims; d++) {
    turned.lo[ambit__turned_axis(d, turn, b->ndims)] = b->lo[d];
    turned.hi[ambit__turned_axis(d, turn, b->ndims)] = b->hi[d];
  }
  return turned;
}

void ambit__box_print(const ambit__box *b, char *text, size_t size)
{
  size_t used = 0;

  if (size) *text = 0;
  for (int d = 0; d < b->ndims && used < size; d++) {
    int n = snprintf(text + used, size - used, "%s[%" PRId64 ",%" PRId64 ")", d ? "x" : "",
                     b->lo[d], b->hi[d]);
    used += n > 0 ? (size_t)n : 0;
  }
}
