/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/seek.h"

/* The cells from `x` on of a row that are in a section. Sets the position of cell x, and limits the
 * end of the cells that are computed. */
static int64_t in_section(const ambit__seeker *s, int section, int64_t x, int64_t *end)
{
  const int last = s->a->box.ndims - 1;
  const int64_t base = ambit__active_section(s->a, section), n = s->a->section;
  const int64_t extent = s->a->box.hi[last], lo = s->column->lo, hi = s->column->hi;
  const int64_t skip = (x + lo) % AMBIT__QUAD;
  int64_t at = base - lo + skip, most = x + n + lo - hi - skip;

  if (x + lo < 0 || n == extent) { /* from the first cell of the row on */
    at = base + x;
    most = n == extent ? extent : n - hi;
  } else if (x + lo >= extent - n) { /* up to the last cell of the row */
    at = base + n - (extent - x);
    most = extent;
  } else if (most > extent - hi) {
    most = extent - hi;
  }
  if (*end > most) *end = most;
  return at;
}

int64_t ambit__seek_joined(const ambit__active *a, int64_t i)
{
  const ambit__run *r = a->runs;

  while (i + 1 < a->n && r[i + 1].row == r[i].row && r[i + 1].lo - r[i].hi <= a->pad)
    i++;
  return i;
}

static bool is_in_row(const ambit__seeker *s)
{
  return s->i < s->a->n && s->a->runs[s->i].row == s->row;
}

/* The same for a row of the grid: in runs of the row, or in the section of inactive cells. */
static int64_t in_row(ambit__seeker *s, int64_t x, int64_t *end)
{
  const ambit__active *a = s->a;
  const int64_t extent = a->box.hi[a->box.ndims - 1];
  const int64_t from = x + s->column->lo, to = x + 1 + s->column->hi; /* read by the first cell */

  s->found = false;
  for (; is_in_row(s); s->i = ambit__seek_joined(a, s->i) + 1) {
    const ambit__run *r = &a->runs[s->i], *last = &a->runs[ambit__seek_joined(a, s->i)];
    const int64_t start = r->lo - ambit__run_head(a, r), stop = last->hi + ambit__run_tail(a, last);
    const bool reaches = start <= from && stop >= to, passed = last->hi <= from;

    if (passed && (!reaches || stop < extent)) continue;
    if (reaches) {
      s->found = true;
      if (*end > stop - s->column->hi) *end = stop - s->column->hi;
      return r->at + x - r->lo;
    }
    if (*end > r->lo - s->column->hi) *end = r->lo - s->column->hi;
    break;
  }
  return in_section(s, 0, x, end);
}

void ambit__seek_row(ambit__seeker *s, const int64_t *place)
{
  int64_t there[AMBIT_MAX_DIMS];

  s->until = 0;
  s->section = -1;
  for (int d = 0; d < s->a->box.ndims - 1; d++) {
    const int64_t extent = s->a->box.hi[d];
    const int side = place[d] + s->column->offset[d] >= extent;
    const ambit_boundary kind = s->b->kind[d][side];

    there[d] = place[d] + s->column->offset[d];
    if (there[d] >= 0 && !side) continue;
    if (kind == AMBIT_CONSTANT)
      s->section = 1 + 2 * d + side;
    else if (ambit__boundary_copies(kind))
      there[d] = ambit__boundary_map(kind, extent, there[d]);
    else if (s->section < 0)
      s->section = 0; /* never read */
  }
  if (s->section >= 0) return;
  s->row = ambit__active_row(s->a, there);
  s->first = s->i = ambit__active_from(s->a, s->row, -1);
}

/* The same in a list, of the only cell of the column: up to the end of the run that has it. */
static int64_t in_list(ambit__seeker *s, int64_t x, int64_t *end)
{
  const ambit__active *a = s->a;
  const int last = a->box.ndims - 1;
  const int64_t extent = a->box.hi[last], away = s->column->lo;
  const int side = x + away >= extent;
  int64_t there = x + away, most = -away;

  s->found = false;
  if (there < 0 || side) {
    const bool copied = ambit__boundary_copies(s->b->kind[last][side]);

    if (copied) there = ambit__boundary_map(s->b->kind[last][side], extent, there);
    if (copied || side) most = copied ? x + 1 : *end;
    if (*end > most) *end = most;
    if (!copied) return in_section(s, 0, x, end);
  }
  if (s->first < s->i && a->runs[s->i - 1].hi > there) s->i = s->first;
  while (is_in_row(s) && a->runs[s->i].hi <= there)
    s->i++;
  if (is_in_row(s) && a->runs[s->i].lo <= there) {
    s->found = true;
    if (*end > x + a->runs[s->i].hi - there) *end = x + a->runs[s->i].hi - there;
    return a->runs[s->i].at + there - a->runs[s->i].lo - away;
  }
  most = x - there + (is_in_row(s) ? a->runs[s->i].lo : extent);
  if (*end > most) *end = most;
  return in_section(s, 0, x, end);
}

static int64_t locate(ambit__seeker *s, int64_t x, int64_t *end)
{
  if (s->section >= 0) return in_section(s, s->section, x, end);
  return s->a->storage == STORAGE_LIST ? in_list(s, x, end) : in_row(s, x, end);
}

int64_t ambit__seek(ambit__seeker *s, int64_t x, int64_t *end)
{
  if (x >= s->until) {
    s->until = INT64_MAX;
    s->cell_0 = locate(s, x, &s->until) - x;
  }
  if (*end > s->until) *end = s->until;
  return s->cell_0 + x;
}
