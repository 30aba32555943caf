/* SPDX-License-Identifier: BSD-3-Clause */
/* partition_print.c - draws a partition as text.
 *
 * The last two axes are a plane of characters. If it is too large, a character stands for a block
 * of cells and shows the owner of the middle one. The leading axes are traversed from cut to cut,
 * since planes between cuts are identical.
 */
#include "grid/partition.h"

#include "base/integers.h"

#include <inttypes.h>

enum { COLUMNS = 64, LINES = 24, PLANES = 16 };

typedef struct picture {
  ambit__text *text;
  const ambit__box *grid, *parts;
  int nparts;
} picture;

static char letter(int part)
{
  static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

  return part < 0 ? '.' : letters[(size_t)part % (sizeof letters - 1)];
}

/* The middle cell of block i of n along an axis. */
static int64_t middle(const ambit__box *grid, int axis, int64_t i, int64_t n)
{
  double cells = (double)(grid->hi[axis] - grid->lo[axis]);

  return grid->lo[axis] + (int64_t)(((double)i + 0.5) * cells / (double)n);
}

static void draw_row(const picture *p, int64_t *cell)
{
  const int last = p->grid->ndims - 1;
  const int64_t columns = ambit__min64(p->grid->hi[last] - p->grid->lo[last], COLUMNS);
  char row[COLUMNS];

  for (int64_t x = 0; x < columns; x++) {
    cell[last] = middle(p->grid, last, x, columns);
    row[x] = letter(ambit__partition_owner(p->parts, p->nparts, cell));
  }
  ambit__print(p->text, "  %.*s\n", (int)columns, row);
}

static void draw_plane(const picture *p, int64_t *cell)
{
  const int axis = p->grid->ndims - 2;
  int64_t lines;

  if (axis < 0) {
    draw_row(p, cell);
    return;
  }
  lines = ambit__min64(p->grid->hi[axis] - p->grid->lo[axis], LINES);
  for (int64_t y = 0; y < lines; y++) {
    cell[axis] = middle(p->grid, axis, y, lines);
    draw_row(p, cell);
  }
}

/* The first cut after `at`, or the end of the grid. */
static int64_t next_cut(const picture *p, int axis, int64_t at)
{
  int64_t next = p->grid->hi[axis];

  for (int k = 0; k < p->nparts; k++) {
    const ambit__box *b = &p->parts[k];

    if (b->lo[axis] > at && b->lo[axis] < next) next = b->lo[axis];
    if (b->hi[axis] > at && b->hi[axis] < next) next = b->hi[axis];
  }
  return next;
}

/* The number of axes before the plane. */
static int leading(const ambit__box *grid)
{
  return grid->ndims > 2 ? grid->ndims - 2 : 0;
}

static void set_range(const picture *p, ambit__box *range, int axis, int64_t at)
{
  range->lo[axis] = at;
  range->hi[axis] = next_cut(p, axis, at);
}

/* Advances to the next range of identical planes; returns false after the last. */
static bool next_range(const picture *p, ambit__box *range)
{
  for (int d = leading(range) - 1; d >= 0; d--) {
    if (range->hi[d] < p->grid->hi[d]) {
      set_range(p, range, d, range->hi[d]);
      return true;
    }
    set_range(p, range, d, p->grid->lo[d]);
  }
  return false;
}

static void draw_range(const picture *p, const ambit__box *range)
{
  const int n = leading(range);
  int64_t cell[AMBIT_MAX_DIMS];

  for (int d = 0; d < n; d++)
    ambit__print(p->text, "%s[%" PRId64 ",%" PRId64 ")%s", d ? "x" : "", range->lo[d], range->hi[d],
                 d == n - 1 ? ":\n" : "");
  ambit__box_first(range, cell);
  draw_plane(p, cell);
}

void ambit__partition_print(ambit__text *t, const ambit__box *grid, const ambit__box *parts,
                            int nparts)
{
  const picture p = {.text = t, .grid = grid, .parts = parts, .nparts = nparts};
  ambit__box range = *grid;
  int planes = 0;

  if (ambit__box_is_empty(grid)) return;
  for (int d = 0; d < leading(grid); d++)
    set_range(&p, &range, d, grid->lo[d]);
  do {
    if (planes++ < PLANES) draw_range(&p, &range);
  } while (next_range(&p, &range));
  if (planes > PLANES) ambit__print(t, "and %d more\n", planes - PLANES);
}
