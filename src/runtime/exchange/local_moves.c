/* SPDX-License-Identifier: BSD-3-Clause */
/* local_moves.c - the moves of an exchange within engines: copies between parts, and ghost cells.
 *
 * Ghost cells that copy own cells can be filled before any message has arrived; the others depend
 * on the halo.
 */
#include "runtime/exchange/exchange.h"

#include <string.h>

static ambit_status add(ambit__exchange *x, int part, ambit__local_phase when, const ambit__move *m)
{
  return ambit__move_set_add(x->program->grid, &x->local[when], part, m);
}

/* ---- ghost cells ---- */

static bool fills(const ambit__move *m)
{
  for (int d = 0; d < m->box.ndims; d++)
    if ((m->reach.lo[d] < m->box.lo[d] && m->boundaries->kind[d][0] != AMBIT_NONE) ||
        (m->reach.hi[d] > m->box.hi[d] && m->boundaries->kind[d][1] != AMBIT_NONE))
      return true;
  return false;
}

static ambit_status add_ghosts(ambit__exchange *x, int i, int part, ambit__local_phase when,
                               const ambit__box *given, const ambit__box *reach)
{
  const ambit__halo_slice *s = x->slices[i];
  ambit_field *f = s->field;
  const ambit__move m = {.dst = &f->stores[part],
                         .first = s->first,
                         .count = s->count,
                         .box = *given,
                         .reach = *reach,
                         .boundaries = x->kind == EXCHANGE_CHANGES ? s->changing : s->boundaries,
                         .extents = f->grid->box.hi};

  if (f->grid->active) return AMBIT_OK; /* launches see to them */
  return s->has_ghosts && fills(&m) ? add(x, part, when, &m) : AMBIT_OK;
}

/* Ghost cells that copy own cells need no message. */
static ambit_status add_edges(ambit__exchange *x, int i, int part)
{
  const ambit__box *own = &x->slices[i]->field->stores[part].layout.own;

  if (ambit__box_is_empty(own)) return AMBIT_OK;
  return add_ghosts(x, i, part, LOCAL_EDGES, own, ambit__exchange_early(x, i, part));
}

/* The given cells of a slab beside the early box. Returns false if they do not include all cells
 * that ghost cells of the slab copy. */
static bool slab_given(const ambit__reach *r, const ambit__box *early, const ambit__box *slab,
                       ambit__box *given)
{
  *given = ambit__box_intersect(slab, &r->given);
  if (ambit__box_is_empty(given)) return false;
  for (int d = 0; d < slab->ndims; d++) {
    bool beside = slab->hi[d] <= early->lo[d] || slab->lo[d] >= early->hi[d];

    if (beside && (slab->lo[d] < r->given.lo[d] || slab->hi[d] > r->given.hi[d])) return false;
  }
  return true;
}

/* Adds the remaining ghost cells: beside each slab of the halo or, if parts are thin, all of them
 * again. */
static ambit_status add_late(ambit__exchange *x, int i, int part)
{
  const ambit__reach *r = &x->slices[i]->halo.reaches[x->program->grid->first + part];
  const ambit__box *early = ambit__exchange_early(x, i, part);
  ambit__box slabs[2 * AMBIT_MAX_DIMS], given[2 * AMBIT_MAX_DIMS];
  int n;

  if (ambit__box_is_empty(early) || ambit__box_equal(early, &r->reach)) return AMBIT_OK;
  n = ambit__box_split(&r->reach, early, slabs);
  for (int k = 0; k < n; k++)
    if (!slab_given(r, early, &slabs[k], &given[k]))
      return add_ghosts(x, i, part, LOCAL_GHOSTS, &r->given, &r->reach);
  for (int k = 0; k < n; k++)
    AMBIT_TRY(add_ghosts(x, i, part, LOCAL_GHOSTS, &given[k], &slabs[k]));
  return AMBIT_OK;
}

/* ---- copies ---- */

static ambit_status add_copy(ambit__exchange *x, const ambit__halo_slice *s,
                             const ambit__transfer *t)
{
  const ambit_grid *g = x->program->grid;
  const int from = t->from - g->first, to = t->to - g->first;
  ambit__move m = {.first = s->first, .count = s->count, .box = t->box};

  if (!g->mine[t->from] || !g->mine[t->to] || g->placement.engine[from] != g->placement.engine[to])
    return AMBIT_OK;
  m.dst = &s->field->stores[to];
  m.src = s->source ? &s->source->stores[from] : &s->field->stores[from];
  if (!g->active) memcpy(m.shift, t->shift, sizeof m.shift);
  if (s->shifted) m.from = &s->shifted[from].from;
  if (s->shifted) m.to = &s->shifted[to].to;
  return add(x, to, LOCAL_COPIES, &m);
}

/* Inactive cells of a source are copied as users see them: with the value of their component. */
static ambit_status add_blanks(ambit__exchange *x, const ambit__halo_slice *s, int part)
{
  const bool together = s->field->order == AMBIT_AOS;
  const ambit_type type = s->field->type;

  for (int c = 0; s->shifted && c < (together ? 1 : s->count); c++) {
    const double number = ambit__field_boundaries(s->source, c)->fill;
    ambit__move m = {.dst = &s->field->stores[part],
                     .first = c,
                     .count = together ? s->count : 1,
                     .box = s->field->grid->box,
                     .to = &s->shifted[part].blank,
                     .fills = true};

    if (!m.to->cells) return AMBIT_OK;
    ambit__value_store(m.value, type, ambit__value_of(number, type));
    AMBIT_TRY(add(x, part, LOCAL_COPIES, &m));
  }
  return AMBIT_OK;
}

/* ---- all moves ---- */

static ambit_status add_all(ambit__exchange *x)
{
  for (int i = 0; i < x->nslices; i++) {
    const ambit__halo *h = &x->slices[i]->halo;

    for (size_t k = 0; x->kind != EXCHANGE_GHOSTS && k < h->count; k++)
      AMBIT_TRY(add_copy(x, x->slices[i], &h->transfers[k]));
    for (int k = 0; k < x->program->grid->placement.n; k++) {
      AMBIT_TRY(add_blanks(x, x->slices[i], k));
      AMBIT_TRY(add_edges(x, i, k));
      AMBIT_TRY(add_late(x, i, k));
    }
  }
  return AMBIT_OK;
}

ambit_status ambit__exchange_make_local(ambit__exchange *x)
{
  AMBIT_TRY(add_all(x));
  for (int i = 0; i < LOCAL_PHASES; i++)
    AMBIT_TRY(ambit__move_set_open(ambit__exchange_context(x), &x->local[i]));
  return AMBIT_OK;
}
