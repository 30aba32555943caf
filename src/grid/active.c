/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/active.h"

#include "base/integers.h"

#include <stdlib.h>

/* Cells of a run that is aligned, since it costs little memory then, and to how many. With twice as
 * many, a star on rows of 128 took 1.4 times as long on cores: rows were 10 cache lines apart. */
enum { LONG_RUN = 64, ALIGN = 16 };

int64_t ambit__active_most = INT32_MAX;

void ambit__active_begin(ambit__active *a, const ambit__box *box, ambit__storage storage)
{
  const int64_t extent = box->hi[box->ndims - 1];

  *a = (ambit__active){.box = *box, .storage = storage, .section = extent};
  if (extent > AMBIT__MOST_ROW) a->section = AMBIT__MOST_ROW - AMBIT__QUAD + extent % AMBIT__QUAD;
}

void ambit__active_free(ambit__active *a)
{
  free(a->runs);
  *a = (ambit__active){0};
}

ambit_status ambit__active_add(ambit__errors *errors, ambit__active *a, const ambit__run *run)
{
  AMBIT_TRY(ambit__make_room(errors, &a->runs, (size_t)a->n, &a->cap, sizeof *a->runs));
  a->runs[a->n++] = *run;
  a->cells += run->hi - run->lo;
  return AMBIT_OK;
}

/* ---- places ---- */

/* The first position from `at` on for a run, which starts a row or does not. */
static int64_t place_run(int64_t at, const ambit__run *r, bool starts)
{
  const int64_t to = starts && r->hi - r->lo >= LONG_RUN ? ALIGN : AMBIT__QUAD;

  return r->lo % to + ambit__round_up(at - r->lo % to, to);
}

/* Whether the cells beside a run cross an end of the row. */
static bool is_at_low(const ambit__active *a, const ambit__run *r)
{
  return r->lo < a->pad;
}

static bool is_at_high(const ambit__active *a, const ambit__run *r)
{
  return a->box.hi[a->box.ndims - 1] - r->hi < a->pad;
}

/* Adds the runs of a row, with empty ones at its ends if it needs them. */
static ambit_status add_row(ambit__errors *errors, ambit__active *a, const ambit__run *from,
                            int64_t n)
{
  const int64_t extent = a->box.hi[a->box.ndims - 1];
  const bool low = is_at_low(a, from), high = is_at_high(a, from + n - 1);

  if (high && !low) AMBIT_TRY(ambit__active_add(errors, a, &(ambit__run){.row = from->row}));
  for (int64_t i = 0; i < n; i++)
    AMBIT_TRY(ambit__active_add(errors, a, &from[i]));
  if (low && !high)
    AMBIT_TRY(
        ambit__active_add(errors, a, &(ambit__run){.row = from->row, .lo = extent, .hi = extent}));
  return AMBIT_OK;
}

/* Adds n runs again, with those empty ones that the pad asks for in place of others; in a list,
 * with none. */
static ambit_status add_again(ambit__errors *errors, ambit__active *a, ambit__run *runs, int64_t n)
{
  for (int64_t i = 0, end; i < n; i = end) {
    ambit__run *row = runs + i;
    int64_t left = 0;

    for (end = i; end < n && runs[end].row == runs[i].row; end++)
      if (runs[end].lo < runs[end].hi) row[left++] = runs[end];
    for (int64_t k = 0; a->storage == STORAGE_LIST && k < left; k++)
      AMBIT_TRY(ambit__active_add(errors, a, &row[k]));
    if (left && a->storage != STORAGE_LIST) AMBIT_TRY(add_row(errors, a, row, left));
  }
  return AMBIT_OK;
}

static ambit_status add_ends(ambit__errors *errors, ambit__active *a)
{
  ambit__run *runs = a->runs;
  const int64_t n = a->n;
  ambit_status s;

  a->runs = NULL;
  a->n = a->cells = 0;
  a->cap = 0;
  s = add_again(errors, a, runs, n);
  free(runs);
  return s;
}

/* The distance between the end of a run and the next one. */
static int64_t gap(const ambit__active *a, const ambit__run *r, const ambit__run *next)
{
  if (next->row == r->row) return next->lo - r->hi < a->pad ? next->lo - r->hi : a->pad;
  if (!is_at_high(a, r) && !is_at_low(a, next)) return a->pad;
  return ambit__run_tail(a, r) + ambit__run_head(a, next);
}

/* Places runs from a position on. Returns the end. */
static int64_t place_runs(ambit__active *a, int64_t at)
{
  for (int64_t i = 0; i < a->n; i++) {
    ambit__run *r = &a->runs[i];
    const bool starts = !i || r[-1].row != r->row;

    at += i ? gap(a, r - 1, r) : ambit__run_head(a, r);
    at = place_run(at, r, starts);
    r->at = at;
    at += r->hi - r->lo;
  }
  return a->n ? at + ambit__run_tail(a, &a->runs[a->n - 1]) : at;
}

/* Threads of GPUs store whole lines of memory. */
static int64_t place_list(ambit__active *a, int64_t at)
{
  at = ambit__round_up(at, LONG_RUN);
  for (int64_t i = 0; i < a->n; i++) {
    a->runs[i].at = at;
    at += a->runs[i].hi - a->runs[i].lo;
  }
  return at;
}

ambit_status ambit__active_end(ambit__errors *errors, ambit__active *a, int64_t pad)
{
  const int sections = 1 + 2 * (a->box.ndims - 1);
  int64_t at, end;

  a->pad = pad;
  AMBIT_TRY(add_ends(errors, a));
  at = ambit__active_section(a, sections);
  end = a->storage == STORAGE_LIST ? place_list(a, at) : place_runs(a, at);
  a->size = ambit__round_up(end + AMBIT__BEYOND_RUNS, LONG_RUN);
  return AMBIT_OK;
}

ambit_status ambit__active_store(ambit__errors *errors, const ambit__active *from,
                                 ambit__storage storage, int64_t pad, ambit__active *to)
{
  ambit__active_begin(to, &from->box, storage);
  for (int64_t i = 0; i < from->n; i++)
    AMBIT_TRY(ambit__active_add(errors, to, &from->runs[i]));
  return ambit__active_end(errors, to, pad);
}

/* ---- looking up ---- */

int64_t ambit__active_row(const ambit__active *a, const int64_t *cell)
{
  int64_t row = 0;

  for (int d = 0; d < a->box.ndims - 1; d++)
    row = row * a->box.hi[d] + cell[d];
  return row;
}

void ambit__active_place(const ambit__active *a, int64_t row, int64_t *cell)
{
  for (int d = a->box.ndims - 2; d >= 0; d--) {
    cell[d] = row % a->box.hi[d];
    row /= a->box.hi[d];
  }
}

static bool is_behind(const ambit__run *r, int64_t row, int64_t x)
{
  return r->row > row || (r->row == row && r->hi > x);
}

int64_t ambit__active_from(const ambit__active *a, int64_t row, int64_t x)
{
  int64_t low = 0, high = a->n; /* it is one of low .. high */

  while (low < high) {
    const int64_t middle = low + (high - low) / 2;

    if (is_behind(&a->runs[middle], row, x))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

int64_t ambit__active_run(const ambit__active *a, const int64_t *cell)
{
  const int64_t row = ambit__active_row(a, cell), x = cell[a->box.ndims - 1];
  const int64_t i = ambit__active_from(a, row, x);

  return i < a->n && a->runs[i].row == row && a->runs[i].lo <= x ? i : -1;
}

/* ---- boxes ---- */

/* The first row of a box from a row on, with the index of its first cell; -1: none. */
static int64_t next_row(const ambit__active *a, const ambit__box *box, int64_t row, ambit__box *to)
{
  const int last = box->ndims - 1;
  int d = 0;

  ambit__active_place(a, row, to->lo);
  while (d < last && to->lo[d] >= box->lo[d] && to->lo[d] < box->hi[d])
    d++;
  if (d < last) { /* the next one along this axis, and the first along those behind it */
    bool behind = to->lo[d] >= box->hi[d];

    for (int k = d; k < last; k++)
      to->lo[k] = box->lo[k];
    while (behind && d > 0) {
      d--;
      behind = ++to->lo[d] >= box->hi[d];
      if (behind) to->lo[d] = box->lo[d];
    }
    if (behind) return -1;
  }
  to->ndims = box->ndims;
  for (int k = 0; k < last; k++)
    to->hi[k] = to->lo[k] + 1;
  return ambit__active_row(a, to->lo);
}

bool ambit__active_next(const ambit__active *a, const ambit__box *box, int64_t *i, ambit__box *row)
{
  const int last = box->ndims - 1;

  if (ambit__box_is_empty(box)) return false;
  if (!*i) *i = ambit__active_from(a, ambit__active_row(a, box->lo), box->lo[last]);
  while (*i < a->n) {
    const ambit__run *r = &a->runs[*i];
    const int64_t lo = r->lo > box->lo[last] ? r->lo : box->lo[last];
    const int64_t hi = r->hi < box->hi[last] ? r->hi : box->hi[last];
    const int64_t in = next_row(a, box, r->row, row);

    if (in < 0) return false;
    ++*i;
    if (in > r->row)
      *i = ambit__active_from(a, in, box->lo[last]);
    else if (r->lo >= box->hi[last] && *i < a->n && a->runs[*i].row == in)
      *i = ambit__active_from(a, in + 1, box->lo[last]); /* not one by one to the end of the row */
    if (in > r->row || lo >= hi) continue;
    row->lo[last] = lo;
    row->hi[last] = hi;
    return true;
  }
  return false;
}

int64_t *ambit__active_before(ambit__errors *errors, const ambit__active *a)
{
  int64_t *before = ambit__new(errors, (size_t)a->n + 1, sizeof *before);

  for (int64_t i = 0; before && i < a->n; i++)
    before[i + 1] = before[i] + a->runs[i].hi - a->runs[i].lo;
  return before;
}

int64_t ambit__active_count(const ambit__active *a, const ambit__box *box)
{
  const int last = box->ndims - 1;
  int64_t n = 0, i = 0;
  ambit__box row;

  if (ambit__box_equal(box, &a->box)) return a->cells;
  while (ambit__active_next(a, box, &i, &row))
    n += row.hi[last] - row.lo[last];
  return n;
}

/* The share of active cells that are in long runs, and have an active one behind them. */
static double share_before(const ambit__active *a, int axis)
{
  const ambit__run *behind = a->runs;
  int64_t step = 1, n = 0, k = 0;

  for (int d = axis + 1; d < a->box.ndims - 1; d++)
    step *= a->box.hi[d];
  for (int64_t i = 0; i < a->n; i++) {
    const ambit__run *r = &a->runs[i];
    const int64_t row = r->row + step;

    if (row / step % a->box.hi[axis] == 0 || r->hi - r->lo < AMBIT__LONG_RUN) continue;
    while (k < a->n && (behind[k].row < row || (behind[k].row == row && behind[k].hi <= r->lo)))
      k++;
    for (int64_t m = k; m < a->n && behind[m].row == row && behind[m].lo < r->hi; m++)
      n += (behind[m].hi < r->hi ? behind[m].hi : r->hi) -
           (behind[m].lo > r->lo ? behind[m].lo : r->lo);
  }
  return a->cells ? (double)n / (double)a->cells : 0;
}

double ambit__active_stacked(const ambit__active *a)
{
  const int last = a->box.ndims - 1;
  double least = last > 0 ? 1 : 0;

  for (int d = last - 1; d >= 0 && d >= last - 2; d--) {
    const double share = share_before(a, d);

    if (share < least) least = share;
  }
  return least;
}

bool ambit__common_next(ambit__common *c)
{
  const ambit__run *to = c->to->runs, *from = c->from->runs;
  const int last = c->box->ndims - 1;

  for (;;) {
    for (; c->i && c->k < c->to->n && to[c->k].row == from[c->i - 1].row &&
           to[c->k].lo < c->row.hi[last];
         c->k++) {
      const int64_t lo = to[c->k].lo > c->row.lo[last] ? to[c->k].lo : c->row.lo[last];
      const int64_t hi = to[c->k].hi < c->row.hi[last] ? to[c->k].hi : c->row.hi[last];

      if (lo >= hi) continue;
      c->to_at = to[c->k].at + lo - to[c->k].lo;
      c->from_at = from[c->i - 1].at + lo - from[c->i - 1].lo;
      c->n = hi - lo;
      c->k++;
      return true;
    }
    if (!ambit__active_next(c->from, c->box, &c->i, &c->row)) return false;
    c->k = ambit__active_from(c->to, from[c->i - 1].row, c->row.lo[last]);
  }
}
