/* SPDX-License-Identifier: BSD-3-Clause */
/* inner_cells.c - the cells of a step that run early, while messages are in flight. */
#include "runtime/program/halo_state.h"
#include "runtime/schedule/schedule.h"

#include <string.h>

ambit__box ambit__cells_own(const ambit_program *p, size_t step, int part)
{
  const ambit__box all = ambit__step_part(p, &p->steps[step], p->grid->first + part);

  return ambit__box_intersect(&p->applies[step].region, &all);
}

/* Cells that are valid early, of some components of a field. */
typedef struct valid {
  int first, count; /* components */
  const ambit__box *cells;
} valid;

/* Whether the cells that a part reads along an axis are always its own: on a sparse grid there are
 * no ghost cells. */
static bool is_whole(const ambit_grid *g, int part, int axis)
{
  const ambit__box *own = &g->parts[g->first + part];

  return g->active && own->lo[axis] == 0 && own->hi[axis] == g->box.hi[axis];
}

/* Shrinks a box of a part until all reads of these components by argument i of a step are valid.
 * Reads along closed rows stay in them. */
static void shrink_by(const ambit_program *p, int part, ambit__box *box, const ambit__step *s,
                      int i, valid v)
{
  const ambit__param *q = &s->kernel->rule->params[i];
  const int x = box->ndims - 1;
  const bool has_rows = v.cells->lo[x] == 0 && v.cells->hi[x] == p->grid->box.hi[x] &&
                        ambit__field_closes_rows(p, s->args[i].field);

  for (int k = 0; k < q->nreads; k++) {
    const ambit__read *r = &q->reads[k];

    if (r->component < v.first || r->component >= v.first + v.count) continue;
    for (int d = 0; d < box->ndims - has_rows; d++) {
      const int64_t lo = v.cells->lo[d] - r->offset[d], hi = v.cells->hi[d] - r->offset[d];

      if (is_whole(p->grid, part, d)) continue;
      if (box->lo[d] < lo) box->lo[d] = lo;
      if (box->hi[d] > hi) box->hi[d] = hi;
    }
  }
}

/* Finishes the box of early cells. It is rounded inwards so that the border is a multiple of the
 * units in which the device computes, unless this would leave less than half of all cells to
 * overlap messages with. */
static void settle(ambit__scheduler *s, size_t step, int part)
{
  const ambit_grid *g = s->p->grid;
  const int64_t *tile = s->p->applies[step].functions[g->placement.engine[part]]->tile;
  const int64_t *start = g->parts[g->first + part].lo;
  const ambit__box own = ambit__cells_own(s->p, step, part);
  ambit__box *box = ambit__cells_of(s, step, part), rounded = *box;

  if (ambit__box_is_empty(box)) {
    memcpy(box->hi, box->lo, sizeof box->hi);
    return;
  }
  for (int d = 0; d < box->ndims; d++) {
    const int64_t n = tile[d] ? tile[d] : 1;

    if (box->lo[d] > own.lo[d]) rounded.lo[d] = start[d] + (box->lo[d] - start[d] + n - 1) / n * n;
    if (box->hi[d] < own.hi[d]) rounded.hi[d] = start[d] + (box->hi[d] - start[d]) / n * n;
  }
  if (2 * ambit__box_volume(&rounded) >= ambit__box_volume(&own)) *box = rounded;
}

void ambit__cells_inner(ambit__scheduler *s, size_t step, const ambit__exchange *x)
{
  const ambit__step *st = &s->p->steps[step];
  const int nparts = s->p->grid->placement.n;

  for (int k = 0; k < nparts; k++) {
    ambit__box *box = ambit__cells_of(s, step, k);

    *box = ambit__cells_own(s->p, step, k);
    for (int i = 0; i < st->n; i++)
      for (int f = 0; f < x->nslices; f++)
        if (st->args[i].field == x->slices[f]->field)
          shrink_by(
              s->p, k, box, st, i,
              (valid){x->slices[f]->first, x->slices[f]->count, ambit__exchange_early(x, f, k)});
    settle(s, step, k);
  }
}

void ambit__cells_follow(ambit__scheduler *s, size_t step, size_t next)
{
  const ambit__step *a = &s->p->steps[step], *b = &s->p->steps[next];

  for (int k = 0; k < s->p->grid->placement.n; k++) {
    ambit__box *box = ambit__cells_of(s, next, k);

    for (int i = 0; i < b->n; i++)
      if (b->args[i].field && ambit__step_writes(a, b->args[i].field))
        shrink_by(s->p, k, box, b, i,
                  (valid){0, b->args[i].field->components, ambit__cells_of(s, step, k)});
    settle(s, next, k);
  }
}

/* Removes the cells of a transfer from a box of own cells, along the axis that loses the fewest. */
static void keep_off(ambit__box *box, const ambit__box *own, const ambit__box *sent)
{
  int64_t least = INT64_MAX;
  int axis = 0, side = 0;

  for (int d = 0; d < own->ndims; d++) {
    int64_t low = sent->hi[d] - own->lo[d], high = own->hi[d] - sent->lo[d];

    if (low < least) least = low, axis = d, side = 0;
    if (high < least) least = high, axis = d, side = 1;
  }
  if (side == 0 && box->lo[axis] < sent->hi[axis]) box->lo[axis] = sent->hi[axis];
  if (side == 1 && box->hi[axis] > sent->lo[axis]) box->hi[axis] = sent->lo[axis];
}

void ambit__cells_unsent(ambit__scheduler *s, size_t step, const ambit__exchange *x)
{
  const ambit_grid *g = s->p->grid;

  for (int k = 0; k < g->placement.n; k++) {
    const ambit__box own = ambit__cells_own(s->p, step, k);
    ambit__box *box = ambit__cells_of(s, step, k);

    *box = own;
    for (int i = 0; i < x->nslices; i++) {
      const ambit__halo *h = &x->slices[i]->halo;

      for (size_t t = 0; t < h->count; t++)
        if (h->transfers[t].from == g->first + k) keep_off(box, &own, &h->transfers[t].box);
    }
    settle(s, step, k);
  }
}

bool ambit__cells_sends_inner(const ambit__scheduler *s, const ambit__exchange *x, size_t step)
{
  const ambit_grid *g = s->p->grid;

  for (int i = 0; i < x->nslices; i++) {
    const ambit__halo *h = &x->slices[i]->halo;

    for (size_t t = 0; t < h->count; t++) {
      const int part = h->transfers[t].from - g->first;
      ambit__box both;

      if (!g->mine[h->transfers[t].from]) continue;
      both = ambit__box_intersect(&h->transfers[t].box, ambit__cells_of(s, step, part));
      if (!ambit__box_is_empty(&both)) return true;
    }
  }
  return false;
}
