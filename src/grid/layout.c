/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/layout.h"

#include "base/integers.h"

#include <assert.h>

enum {
  LINE = 64,   /* bytes of a CPU cache line */
  BEYOND = 64, /* cells past the last one, or before the first one, that a vector load may touch */
#ifdef __aarch64__
  SHORT_ROW = 4 * LINE, /* bytes, of which a line more would be much; measured on both */
#else
  SHORT_ROW = 8 * LINE,
#endif
  VECTOR = 16,                /* bytes that a lane of a GPU loads at once */
  PACKED_ROW = 5 * LINE,      /* bytes: shorter rows have no line for their low margin; on GPUs */
  GPU_PACKED = LINE,          /* rows that take little of a warp, */
  GPU_PACKED_DEEP = 4 * LINE, /* and with more than three axes, where no plan loads vectors */
  THIN = 16,                  /* cells: on GPUs, rows lie along another axis than one with fewer */
  ALIAS = 4096,   /* rows at multiples of this distance in bytes share cache sets or memory banks */
  LARGE = 1 << 21 /* bytes of a component: larger than the second-level cache of most cores */
};

static int64_t cells_along(const ambit__layout *l, int axis)
{
  return l->own.hi[axis] - l->own.lo[axis] + l->margin_lo[axis] + l->margin_hi[axis];
}

/* The axis of rows. */
static int row_axis(const ambit__layout *l)
{
  return l->turn ? l->turn - 1 : l->own.ndims - 1;
}

static bool is_for_gpu(const ambit__layout *l)
{
  return l->line > LINE;
}

/* Whether rows are too short for a line of their own, in which a cell has `bytes`. */
static bool has_short_rows(const ambit__layout *l, int64_t bytes)
{
  const int last = row_axis(l);
  const int64_t own = l->own.hi[last] - l->own.lo[last];

  if (!is_for_gpu(l)) return cells_along(l, last) <= (PACKED_ROW - 1) / bytes;
  return l->own.ndims > 1 && own <= ((l->own.ndims > 3 ? GPU_PACKED_DEEP : GPU_PACKED) - 1) / bytes;
}

/* Whether all cells take more than LARGE bytes, where a row takes `row`. */
static bool is_large(const ambit__layout *l, int64_t row)
{
  int64_t most = LARGE;

  for (int d = 0; d < l->own.ndims - 1 && most >= row; d++)
    if (cells_along(l, d) > 0) most /= cells_along(l, d);
  return most < row;
}

/* The alignment of rows of `row` bytes, whose cells have `size`: see layout.h. */
static int64_t good_line(const ambit__layout *l, int64_t row, int64_t size)
{
  int64_t line = is_for_gpu(l) ? l->line : LINE;

  if (!is_for_gpu(l) && has_short_rows(l, size) && is_large(l, row) &&
      ambit__round_up(row, LINE) - row > row / 8)
    return size;
  while (line > LINE && ambit__round_up(row, line) - ambit__round_up(row, LINE) > row / 8)
    line /= 2;
  while ((!is_for_gpu(l) || has_short_rows(l, size)) && line > (is_for_gpu(l) ? VECTOR : size) &&
         ambit__round_up(row, line) - row > row / 3)
    line /= 2;
  return line;
}

/* The pitch of rows or planes: whole lines, but not a multiple of ALIAS (on GPUs only rows matter).
 * More padding would break up the sequences that the hardware prefetches. On cores rows have an odd
 * number of lines, unless they are short: rows that are computed together then share all sets of
 * the cache, and stencils were measured to be up to 1.3 times as fast. */
static int64_t good_pitch(const ambit__layout *l, int axis, int64_t pitch, int64_t size,
                          int64_t line)
{
  const bool is_row = axis == row_axis(l);
  int64_t bytes = ambit__round_up(pitch * size, line);

  if (bytes % ALIAS == 0 && (is_row || !is_for_gpu(l))) bytes += line;
  if (is_row && !is_for_gpu(l) && bytes >= SHORT_ROW && bytes / LINE % 2 == 0) bytes += LINE;
  return bytes / size;
}

/* The distance of components of `bytes` on cores: they are read and written together, so the same
 * cell of all of them should lie in different sets of the first-level cache, and no load near a
 * store in the last bits of its address. */
static int64_t good_component(const ambit__layout *l, int64_t bytes)
{
  const int64_t apart = ALIAS / l->components / LINE * LINE;

  if (is_for_gpu(l) || l->components == 1 || bytes < ALIAS) return bytes;
  bytes = ambit__round_up(bytes, LINE);
  return bytes + (ALIAS + (apart ? apart : LINE) - bytes % ALIAS) % ALIAS;
}

/* Whether n a b + more fits, with room to spare; none of them is negative. */
static bool fits(int64_t n, int64_t a, int64_t b, int64_t more)
{
  const int64_t most = INT64_MAX / 2 - more;

  return !a || !b || n <= most / a / b;
}

/* The runs of a sparse grid. */
static bool make_runs(ambit__layout *l)
{
  const int64_t size = (int64_t)ambit_type_size(l->type);
  const int64_t per_cell = l->order == AMBIT_AOS ? l->components : 1;

  if (!fits(l->active->size, l->components, size, 0)) return false;
  l->stride[l->own.ndims - 1] = per_cell;
  l->component = l->order == AMBIT_AOS ? 1 : l->active->size;
  l->bytes = (size_t)(l->active->size * l->components * size);
  return true;
}

int ambit__layout_turn(const ambit__box *grid)
{
  int d = grid->ndims - 1;

  while (d > 0 && grid->hi[d] - grid->lo[d] < THIN)
    d--;
  return d == grid->ndims - 1 || grid->hi[d] - grid->lo[d] < THIN ? 0 : d + 1;
}

ambit__layout ambit__layout_turned(const ambit__layout *l, int turn)
{
  ambit__layout to = *l;

  to.own = ambit__box_turn(&l->own, turn);
  to.turn = 0;
  to.dropped = 0;
  for (int d = 0; d < l->own.ndims; d++) {
    const int place = ambit__turned_axis(d, turn, l->own.ndims);

    to.margin_lo[place] = l->margin_lo[d];
    to.margin_hi[place] = l->margin_hi[d];
    to.stride[place] = l->stride[d];
    to.dropped |= (l->dropped >> d & 1) << place;
  }
  return to;
}

bool ambit__layout_make(ambit__layout *l)
{
  const int last = row_axis(l), ndims = l->own.ndims;
  const int64_t size = (int64_t)ambit_type_size(l->type);
  const int64_t per_cell = l->order == AMBIT_AOS ? l->components : 1;
  const int64_t planes = l->order == AMBIT_AOS ? 1 : l->components;
  int64_t elements = 1, line = LINE, before, beyond;

  if (l->active) return make_runs(l);
  if (!has_short_rows(l, per_cell * size))
    l->margin_lo[last] = ambit__round_up(l->margin_lo[last], LINE / size);
  l->origin = 0;
  for (int place = ndims - 1; place >= 0; place--) {
    const int d = ambit__turned_back(place, l->turn, ndims);
    int64_t cells = cells_along(l, d);

    l->stride[d] = d == last ? per_cell : elements;
    l->origin += l->margin_lo[d] * l->stride[d];
    if (!fits(cells, l->stride[d], size, ALIAS)) return false;
    elements = cells * l->stride[d];
    if (d == last) {
      line = good_line(l, elements * size, size * per_cell);
      /* the low margin of a row lies in the padding of the row before */
      l->origin = ambit__round_up(l->origin * size, line) / size;
    }
    elements = good_pitch(l, d, elements, size, line);
  }
  for (int d = 0; d < ndims; d++)
    if (l->dropped >> d & 1) l->stride[d] = 0;
  before = is_for_gpu(l) ? 0 : ambit__round_up(BEYOND * per_cell, LINE / size) - l->origin;
  if (before > 0) l->origin += before;
  if (l->order != AMBIT_AOS) elements = good_component(l, elements * size) / size;
  l->component = l->order == AMBIT_AOS ? 1 : elements;
  beyond = line + (BEYOND * per_cell + (before > 0 ? before : 0)) * size;
  if (!fits(elements, planes, size, beyond)) return false;
  l->bytes = (size_t)(elements * planes * size + beyond);
  return true;
}

bool ambit__layout_is_packed(const ambit__layout *l)
{
  const int64_t size = (int64_t)ambit_type_size(l->type);

  return !l->active && has_short_rows(l, l->order == AMBIT_AOS ? l->components * size : size);
}

bool ambit__layout_has(const ambit__layout *l, const ambit__box *box)
{
  ambit__box all = l->own;

  for (int d = 0; d < all.ndims; d++) {
    all.lo[d] -= l->margin_lo[d];
    all.hi[d] += l->margin_hi[d];
    if (l->dropped >> d & 1) { /* all cells are the same one */
      all.lo[d] = box->lo[d];
      all.hi[d] = box->hi[d];
    }
  }
  return ambit__box_contains(&all, box);
}

size_t ambit__layout_box_bytes(const ambit__layout *l, const ambit__box *box)
{
  return (size_t)ambit__box_volume(box) * (size_t)l->components * ambit_type_size(l->type);
}

int64_t ambit__layout_at(const ambit__layout *l, const int64_t *cell)
{
  const int last = l->own.ndims - 1;
  int64_t at = l->origin;

  if (l->active) {
    const int64_t i = ambit__active_run(l->active, cell);
    const ambit__run *r = &l->active->runs[i];

    assert(i >= 0);
    return at + (r->at + cell[last] - r->lo) * l->stride[last];
  }
  for (int d = 0; d <= last; d++)
    at += (cell[d] - l->own.lo[d]) * l->stride[d];
  return at;
}

ambit__layout ambit__layout_slice(const ambit__layout *l, int first, int count)
{
  ambit__layout slice = *l;

  slice.origin += first * l->component;
  slice.components = count;
  return slice;
}
