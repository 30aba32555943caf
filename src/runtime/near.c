/* near.c - what an exchange moves within engines: copies between parts, and ghost cells.
 *
 * What it is, is found out once; devices that launch what they do get it in batches. The ghosts that are copies of own cells
 * can be filled before any halo has come; the others follow from the halo.
 */
#include "base/memory.h"
#include "runtime/exchange.h"

#include <stdlib.h>
#include <string.h>

static ambit *context(const ambit__exchange *x)
{
  return x->program->grid->context;
}

static const ambit__fetch *fetch(const ambit__exchange *x, int i)
{
  return &x->program->fetches[x->fetches[i]];
}

static ambit__near *near_of(const ambit__exchange *x, int engine, ambit__near_when when)
{
  return &x->near[engine * NEAR_WHENS + (int)when];
}

static ambit_status add(ambit__exchange *x, int part, ambit__near_when when, const ambit__move *m)
{
  ambit__near *near = near_of(x, context(x)->slots[part], when);
  ambit__move *moves =
      ambit__grow(&context(x)->errors, near->moves, (size_t)near->n, &near->cap, sizeof *moves);

  if (!moves) return AMBIT_ENOMEM;
  near->moves = moves;
  moves[near->n++] = *m;
  return AMBIT_OK;
}

/* ---- ghosts ---- */

static ambit_status add_ghosts(ambit__exchange *x, int i, int part, ambit__near_when when,
                               const ambit__box *given, const ambit__box *reach)
{
  ambit_field *f = fetch(x, i)->field;
  const ambit__move m = {.dst = &f->stores[part],
                         .box = *given,
                         .reach = *reach,
                         .boundaries = &f->boundaries,
                         .extents = f->grid->box.hi};

  return ambit__box_equal(given, reach) ? AMBIT_OK : add(x, part, when, &m);
}

/* Ghosts that are copies of own cells need no message. */
static ambit_status add_edges(ambit__exchange *x, int i, int part)
{
  const ambit__box *own = &fetch(x, i)->field->stores[part].layout.own;

  if (ambit__box_is_empty(own)) return AMBIT_OK;
  return add_ghosts(x, i, part, NEAR_EDGES, own, &x->early[i * context(x)->nslots + part]);
}

/* What is given of a slab beside the early cells; false: not all of what its ghosts copy is in there. */
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

/* The rest, when the halo is there: beside each slab of it, or, where parts are thin, all over again. */
static ambit_status add_late(ambit__exchange *x, int i, int part)
{
  const ambit__reach *r = &fetch(x, i)->halo.reaches[x->program->grid->first + part];
  const ambit__box *early = &x->early[i * context(x)->nslots + part];
  ambit__box slabs[2 * AMBIT_MAX_DIMS], given[2 * AMBIT_MAX_DIMS];
  int n;

  if (ambit__box_is_empty(early) || ambit__box_equal(early, &r->reach)) return AMBIT_OK;
  n = ambit__box_split(&r->reach, early, slabs);
  for (int k = 0; k < n; k++)
    if (!slab_given(r, early, &slabs[k], &given[k]))
      return add_ghosts(x, i, part, NEAR_GHOSTS, &r->given, &r->reach);
  for (int k = 0; k < n; k++)
    AMBIT_TRY(add_ghosts(x, i, part, NEAR_GHOSTS, &given[k], &slabs[k]));
  return AMBIT_OK;
}

/* ---- copies ---- */

static ambit_status add_copy(ambit__exchange *x, const ambit_field *f, const ambit__transfer *t)
{
  const ambit_grid *g = x->program->grid;
  const int from = t->from - g->first, to = t->to - g->first;
  ambit__move m = {.box = t->box};

  if (!g->mine[t->from] || !g->mine[t->to] || g->context->slots[from] != g->context->slots[to])
    return AMBIT_OK;
  m.dst = &f->stores[to];
  m.src = &f->stores[from];
  memcpy(m.shift, t->shift, sizeof m.shift);
  return add(x, to, NEAR_BEGIN, &m);
}

/* ---- the whole ---- */

static ambit_status add_all(ambit__exchange *x)
{
  for (int i = 0; i < x->nfetches; i++) {
    const ambit__halo *h = &fetch(x, i)->halo;

    for (size_t k = 0; k < h->count; k++)
      AMBIT_TRY(add_copy(x, fetch(x, i)->field, &h->transfers[k]));
    for (int k = 0; k < context(x)->nslots; k++) {
      AMBIT_TRY(add_edges(x, i, k));
      AMBIT_TRY(add_late(x, i, k));
    }
  }
  return AMBIT_OK;
}

ambit_status ambit__near_make(ambit__exchange *x)
{
  const ambit *a = context(x);

  x->near = ambit__new(&context(x)->errors, (size_t)a->nengines * NEAR_WHENS, sizeof *x->near);
  if (!x->near) return AMBIT_ENOMEM;
  AMBIT_TRY(add_all(x));
  for (int i = 0; i < a->nengines * NEAR_WHENS; i++) {
    ambit__device *dev = a->engines[i / NEAR_WHENS].device;
    ambit__near *near = &x->near[i];

    if (near->n && dev->backend->batch_open)
      AMBIT_TRY(dev->backend->batch_open(dev, near->moves, near->n, &near->batch));
  }
  return AMBIT_OK;
}

void ambit__near_free(ambit__exchange *x)
{
  for (int i = 0; x->near && i < context(x)->nengines * NEAR_WHENS; i++) {
    if (x->near[i].batch)
      context(x)->engines[i / NEAR_WHENS].device->backend->batch_close(x->near[i].batch);
    free(x->near[i].moves);
  }
  free(x->near);
}

static ambit_status run_one(ambit__queue *q, const ambit__move *m)
{
  const ambit__backend *backend = q->device->backend;

  if (m->src) return backend->copy_box(q, m->dst, m->src, &m->box, m->shift);
  return backend->ghosts(q, m->dst, m->boundaries, m->extents, &m->box, &m->reach);
}

ambit_status ambit__near_run(ambit__exchange *x, ambit__near_when when, bool late)
{
  for (int e = 0; e < context(x)->nengines; e++) {
    const ambit__near *near = near_of(x, e, when);
    ambit__queue *q = late ? context(x)->engines[e].border : context(x)->engines[e].queue;

    if (near->batch) AMBIT_TRY(q->device->backend->batch_run(q, near->batch));
    for (int i = 0; !near->batch && i < near->n; i++)
      AMBIT_TRY(run_one(q, &near->moves[i]));
  }
  return AMBIT_OK;
}
