/* SPDX-License-Identifier: BSD-3-Clause */
/* edges.c - the cells beyond the ends of rows that are copies of others, as far as a region reads
 * them. A list has none: its tables lead to the others. */
#include "grid/seek.h"

#include <stdlib.h>

/* The rows and cells that a region reads with a view: marks by axis, of the indices that are read
 * directly or through a boundary. */
typedef struct reads {
  const ambit__active *a;
  const ambit__boundaries *b;
  int64_t lo, hi;               /* along the last axis, which may be beyond its ends */
  bool *marked[AMBIT_MAX_DIMS]; /* of the other axes; owned */
} reads;

static void mark(const reads *r, int axis, int64_t i)
{
  const int64_t n = r->a->box.hi[axis];
  const ambit_boundary kind = r->b->kind[axis][i >= n];

  if (i >= 0 && i < n)
    r->marked[axis][i] = true;
  else if (ambit__boundary_copies(kind))
    r->marked[axis][ambit__boundary_map(kind, n, i)] = true;
}

static ambit_status find_reads(ambit__errors *errors, const ambit__chunks *c, int view, reads *r)
{
  const ambit__chunk_form *f = c->form;
  const int last = c->region.ndims - 1;

  *r = (reads){.a = c->active,
               .b = &f->views[view],
               .lo = c->region.lo[last] - f->reach[view],
               .hi = c->region.hi[last] + f->reach[view]};
  for (int d = 0; d < last; d++) {
    int64_t lo = c->region.lo[d], hi = c->region.hi[d];

    for (int k = 0; k < f->ncolumns; k++) {
      const int64_t offset = f->columns[k].view == view ? f->columns[k].offset[d] : 0;

      if (c->region.lo[d] + offset < lo) lo = c->region.lo[d] + offset;
      if (c->region.hi[d] + offset > hi) hi = c->region.hi[d] + offset;
    }
    AMBIT_NEW(errors, r->marked[d], (size_t)c->active->box.hi[d]);
    for (int64_t i = lo; i < hi; i++)
      mark(r, d, i);
  }
  return AMBIT_OK;
}

static bool reads_row(const reads *r, int64_t row)
{
  int64_t cell[AMBIT_MAX_DIMS];

  ambit__active_place(r->a, row, cell);
  for (int d = 0; d < r->a->box.ndims - 1; d++)
    if (!r->marked[d][cell[d]]) return false;
  return true;
}

/* Adds the cells x .. end - 1 beyond an end of a row, beside a run there. */
static ambit_status add_edge(ambit__errors *errors, const reads *q, const ambit__run *r, int side,
                             ambit__edges *e)
{
  const ambit__active *a = q->a;
  const int last = a->box.ndims - 1;
  const int64_t extent = a->box.hi[last], end = side ? q->hi : 0;

  for (int64_t x = side ? extent : q->lo; x < end; x++) {
    const int64_t there = ambit__boundary_map(q->b->kind[last][side], extent, x);
    const int64_t i = ambit__active_from(a, r->row, there);

    if (i == a->n || a->runs[i].row != r->row || a->runs[i].lo > there) continue; /* inactive */
    AMBIT_TRY(ambit__make_room(errors, &e->moves, (size_t)e->n, &e->cap, 2 * sizeof *e->moves));
    e->moves[2 * e->n] = (int32_t)(r->at + x - r->lo);
    e->moves[2 * e->n++ + 1] = (int32_t)(a->runs[i].at + there - a->runs[i].lo);
  }
  return AMBIT_OK;
}

static ambit_status add_edges(ambit__errors *errors, const reads *q, ambit__edges *e)
{
  const ambit__active *a = q->a;
  const int last = a->box.ndims - 1;
  const bool low = ambit__boundary_copies(q->b->kind[last][0]) && q->lo < 0;
  const bool high = ambit__boundary_copies(q->b->kind[last][1]) && q->hi > a->box.hi[last];

  for (int64_t i = 0; (low || high) && i < a->n; i++) {
    const ambit__run *r = &a->runs[i];
    const bool first = low && r->lo < a->pad && (!i || r[-1].row != r->row);
    const bool end =
        high && a->box.hi[last] - r->hi < a->pad && (i + 1 == a->n || r[1].row != r->row);

    if ((!first && !end) || !reads_row(q, r->row)) continue;
    if (first) AMBIT_TRY(add_edge(errors, q, r, 0, e));
    if (end) AMBIT_TRY(add_edge(errors, q, r, 1, e));
  }
  return AMBIT_OK;
}

ambit_status ambit__edges_make(ambit__errors *errors, const ambit__chunks *c, int view)
{
  reads r;
  ambit_status s;

  if (ambit__box_is_empty(&c->region)) return AMBIT_OK;
  s = find_reads(errors, c, view, &r);
  if (!s) s = add_edges(errors, &r, &c->edges[view]);
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    free(r.marked[d]);
  return s;
}
