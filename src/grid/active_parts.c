/* SPDX-License-Identifier: BSD-3-Clause */
/* active_parts.c - sparse grids in parts: where they are cut, and what a part stores.
 *
 * A part is a box. A box is cut by a plane into two, with numbers of active cells as the weights of
 * their parts demand, and so on. Every cut counts the active cells of its own box, so errors of
 * half a plane are small shares of what is left, whereas parts that are slices along one axis would
 * be wrong by half a plane each. The last axis is cut only where the others cannot divide a box:
 * its cuts are the only ones that shorten runs.
 */
#include "grid/active.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the smaller side of a cut: planes this close are equally good; beyond, cutting runs is better.
 */
static const double GOOD = 1.0 / 400, BAD = 1.0 / 100;

typedef struct cutter {
  const ambit__active *a;
  const double *weights;           /* by part; NULL: equal ones */
  ambit__box *parts;               /* the result */
  int64_t *before[AMBIT_MAX_DIMS]; /* by axis: active cells of the current box in front of each
                                       plane of the grid, one more than planes; owned */
} cutter;

/* A place for a cut. */
typedef struct place {
  int64_t plane; /* the first one behind it */
  double error;  /* cells that are on the wrong side */
} place;

/* ---- cuts ---- */

static void count_cells(const cutter *c, const ambit__box *box)
{
  const int last = box->ndims - 1;
  ambit__box row;
  int64_t i = 0, in_row = 0;

  for (int d = 0; d <= last; d++)
    memset(c->before[d], 0, ((size_t)c->a->box.hi[d] + 2) * sizeof **c->before);
  while (ambit__active_next(c->a, box, &i, &row)) {
    for (int d = 0; d < last; d++)
      c->before[d][row.lo[d] + 1] += row.hi[last] - row.lo[last];
    c->before[last][row.lo[last] + 1]++; /* a run begins here, */
    c->before[last][row.hi[last] + 1]--; /* and ends there */
  }
  for (int64_t x = 0; x < c->a->box.hi[last]; x++)
    c->before[last][x + 1] = in_row += c->before[last][x + 1];
  for (int d = 0; d <= last; d++)
    for (int64_t k = 0; k < c->a->box.hi[d]; k++)
      c->before[d][k + 1] += c->before[d][k];
}

static double sum_weights(const cutter *c, int first, int n)
{
  double sum = 0;

  for (int i = first; i < first + n; i++)
    sum += c->weights ? c->weights[i] : 1;
  return sum;
}

/* The plane along an axis of a box, from one on, before which there are most nearly `wanted` cells.
 */
static place find_plane(const cutter *c, const ambit__box *box, int axis, int64_t from,
                        double wanted)
{
  const int64_t *before = c->before[axis];
  place p = {from, fabs((double)before[from] - wanted)};

  while (p.plane < box->hi[axis] && fabs((double)before[p.plane + 1] - wanted) <= p.error)
    p.error = fabs((double)before[++p.plane] - wanted);
  return p;
}

/* The longest axis with a good plane; or that with the best one. */
static int choose_axis(const ambit__box *box, const place *places, double cells)
{
  const int last = box->ndims - 1;
  int best = 0;
  int64_t longest = 0;

  for (int d = 1; d < last; d++)
    if (places[d].error < places[best].error) best = d;
  for (int d = 0; d < last; d++)
    if (places[d].error <= GOOD * cells && box->hi[d] - box->lo[d] > longest) {
      longest = box->hi[d] - box->lo[d];
      best = d;
    }
  return places[best].error > BAD * cells && places[last].error < places[best].error ? last : best;
}

/* Cuts a box into n parts. */
static void cut_in_halves(const cutter *c, const ambit__box *box, int first, int n)
{
  const int half = n / 2;
  const double sum = sum_weights(c, first, n);
  const double share = sum > 0 ? sum_weights(c, first, half) / sum : 0.5;
  double cells;
  place places[AMBIT_MAX_DIMS];
  ambit__box low = *box, high = *box;
  int axis;

  if (n == 1) {
    c->parts[first] = *box;
    return;
  }
  count_cells(c, box);
  cells = (double)c->before[0][c->a->box.hi[0]];
  for (int d = 0; d < box->ndims; d++)
    places[d] = find_plane(c, box, d, box->lo[d], share * cells);
  axis = choose_axis(box, places, cells * (share < 0.5 ? share : 1 - share));
  low.hi[axis] = high.lo[axis] = places[axis].plane;
  cut_in_halves(c, &low, first, half);
  cut_in_halves(c, &high, first + half, n - half);
}

/* Cuts a box into n parts, the first of the axes into counts[axis] slices, and so on. */
static void cut_in_slices(const cutter *c, const ambit__box *box, int axis, const int *counts,
                          int first, int n)
{
  const int slices = axis < box->ndims ? counts[axis] : 1, each = n / slices;
  const double all = sum_weights(c, first, n);
  int64_t ends[2] = {0};

  if (axis == box->ndims) {
    c->parts[first] = *box;
    return;
  }
  ends[1] = box->lo[axis];
  for (int i = 0; i < slices; i++) {
    const double share = all > 0 ? sum_weights(c, first, (i + 1) * each) / all : 1;
    ambit__box slice = *box;

    count_cells(c, box); /* slices of slices counted others */
    ends[0] = ends[1];
    ends[1] =
        find_plane(c, box, axis, ends[0], share * (double)c->before[0][c->a->box.hi[0]]).plane;
    slice.lo[axis] = ends[0];
    slice.hi[axis] = ends[1] = i + 1 == slices ? box->hi[axis] : ends[1];
    cut_in_slices(c, &slice, axis + 1, counts, first + i * each, each);
  }
}

ambit_status ambit__active_cut(ambit__errors *errors, const ambit__active *a, int nparts,
                               const int *counts, const double *weights, ambit__box *parts)
{
  cutter c = {.a = a, .weights = weights, .parts = parts};
  ambit_status s = AMBIT_OK;

  for (int d = 0; !s && d < a->box.ndims; d++) {
    c.before[d] = ambit__new(errors, (size_t)a->box.hi[d] + 2, sizeof **c.before);
    if (!c.before[d]) s = AMBIT_ENOMEM;
  }
  if (!s && counts)
    cut_in_slices(&c, &a->box, 0, counts, 0, nparts);
  else if (!s)
    cut_in_halves(&c, &a->box, 0, nparts);
  for (int d = 0; d < a->box.ndims; d++)
    free(c.before[d]);
  return s;
}

/* ---- what a part stores: of an axis, its own indices and some at either end ---- */

/* Indices along an axis: up to three ranges, in order. */
typedef struct spans {
  int n;
  int64_t lo[3], hi[3];
} spans;

static void add_span(spans *s, int64_t lo, int64_t hi)
{
  if (lo >= hi) return;
  s->lo[s->n] = lo;
  s->hi[s->n++] = hi;
}

static spans spans_of(const ambit__box *box, const ambit__box *own, const ambit__layers *l, int d)
{
  const int64_t n = box->hi[d], lo = own->lo[d] - l->lo[d], hi = own->hi[d] + l->hi[d];
  spans s = {0};

  if (hi - lo >= n || own->hi[d] - own->lo[d] == n) {
    add_span(&s, 0, n);
    return s;
  }
  add_span(&s, 0, hi - n);
  add_span(&s, lo > 0 ? lo : 0, hi < n ? hi : n);
  add_span(&s, lo + n, n);
  return s;
}

static bool has_index(const spans *s, int64_t i)
{
  for (int k = 0; k < s->n; k++)
    if (i >= s->lo[k] && i < s->hi[k]) return true;
  return false;
}

/* Adds the cells of a run that are in the spans of all axes. */
static ambit_status add_run(ambit__errors *errors, const ambit__run *r, const spans *s,
                            ambit__active *part)
{
  const int last = part->box.ndims - 1;
  int64_t cell[AMBIT_MAX_DIMS];

  ambit__active_place(part, r->row, cell);
  for (int d = 0; d < last; d++)
    if (!has_index(&s[d], cell[d])) return AMBIT_OK;
  for (int k = 0; k < s[last].n; k++) {
    const ambit__run within = {.row = r->row,
                               .lo = r->lo > s[last].lo[k] ? r->lo : s[last].lo[k],
                               .hi = r->hi < s[last].hi[k] ? r->hi : s[last].hi[k]};

    if (within.lo < within.hi) AMBIT_TRY(ambit__active_add(errors, part, &within));
  }
  return AMBIT_OK;
}

ambit_status ambit__active_part(ambit__errors *errors, const ambit__active *whole,
                                const ambit__box *own, const ambit__layers *layers,
                                ambit__active *part)
{
  spans s[AMBIT_MAX_DIMS];

  ambit__active_begin(part, &whole->box, whole->storage);
  for (int d = 0; d < whole->box.ndims; d++)
    s[d] = spans_of(&whole->box, own, layers, d);
  for (int64_t i = 0; !ambit__box_is_empty(own) && i < whole->n; i++)
    AMBIT_TRY(add_run(errors, &whole->runs[i], s, part));
  return ambit__active_end(errors, part, whole->pad);
}
