/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange_make.c - makes an exchange: assigns transfers to channels. */
#include "base/memory.h"
#include "runtime/exchange/exchange.h"

#include <stdlib.h>

/* ---- channels ---- */

static ambit__channel *find_channel(ambit__exchange *x, int part, int other, bool incoming)
{
  for (int i = 0; i < x->nchannels; i++)
    if (x->channels[i].part == part && x->channels[i].other == other &&
        x->channels[i].incoming == incoming)
      return &x->channels[i];
  return NULL;
}

/* The number of channels added before between the same two processes in the same direction. Both
 * ends add them in the same order, so this number makes tags unique. */
static int earlier_channels(const ambit__exchange *x, const ambit__channel *m)
{
  int n = 0;

  for (const ambit__channel *i = x->channels; i < m; i++)
    n += i->process == m->process && i->incoming == m->incoming;
  return n;
}

static ambit__channel *add_channel(ambit__exchange *x, size_t *cap, int part, int other,
                                   bool incoming)
{
  ambit__channel *c = ambit__add(&ambit__exchange_context(x)->errors, &x->channels,
                                 (size_t)x->nchannels, cap, sizeof *c);

  if (!c) return NULL;
  x->nchannels++;
  *c = (ambit__channel){.part = part, .other = other, .incoming = incoming};
  c->process = ambit__grid_process(x->program->grid, other);
  c->tag = x->tag + earlier_channels(x, c);
  return c;
}

size_t ambit__channel_item_bytes(const ambit__halo_slice *s, const ambit__transfer *t)
{
  const size_t cell = (size_t)s->count * ambit_type_size(s->field->type);
  const size_t n = (size_t)t->cells * cell;

  return (n + 7) / 8 * 8;
}

static ambit_status add_item(ambit__exchange *x, size_t *cap, int slice, int transfer, int part,
                             int other, bool incoming)
{
  const ambit__halo_slice *f = x->slices[slice];
  ambit__channel *m = find_channel(x, part, other, incoming);
  int *items;

  if (!m) m = add_channel(x, cap, part, other, incoming);
  if (!m) return AMBIT_ENOMEM;
  items = realloc(m->items, (size_t)(m->nitems + 1) * 2 * sizeof *items);
  AMBIT_CHECK(items, &ambit__exchange_context(x)->errors, AMBIT_ENOMEM,
              "no memory for the messages of a program");
  m->items = items;
  items[2 * m->nitems] = slice;
  items[2 * m->nitems++ + 1] = transfer;
  m->bytes += ambit__channel_item_bytes(f, &f->halo.transfers[transfer]);
  return AMBIT_OK;
}

/* Adds a transfer between engines or processes to the channels of its ends on this process. */
static ambit_status add_transfer(ambit__exchange *x, size_t *cap, int slice, int transfer,
                                 bool incoming)
{
  const ambit_grid *g = x->program->grid;
  const ambit__transfer *t = &x->slices[slice]->halo.transfers[transfer];
  const bool sends = g->mine[t->from], gets = g->mine[t->to];

  if (sends && gets &&
      g->placement.engine[t->from - g->first] == g->placement.engine[t->to - g->first])
    return AMBIT_OK;
  if (incoming && gets) return add_item(x, cap, slice, transfer, t->to - g->first, t->from, true);
  if (!incoming && sends)
    return add_item(x, cap, slice, transfer, t->from - g->first, t->to, false);
  return AMBIT_OK;
}

static ambit_status add_channels(ambit__exchange *x)
{
  size_t cap = 0;

  for (int incoming = 0; incoming < 2; incoming++)
    for (int i = 0; i < x->nslices; i++)
      for (size_t k = 0; k < x->slices[i]->halo.count; k++)
        AMBIT_TRY(add_transfer(x, &cap, i, (int)k, incoming));
  return AMBIT_OK;
}

/* Whether a message goes to the other end without a copy in host memory. */
static bool is_direct(const ambit__exchange *x, const ambit__channel *m,
                      const ambit__message *message)
{
  const ambit__backend *here = ambit__engine_of(x->program->grid, m->part)->device->backend;

  if (!message->device_bytes) return false;
  if (!m->peer) return ambit__exchange_context(x)->gpu_aware;
  return ambit__can(here, pass) &&
         here == ambit__engine_of(x->program->grid, m->peer->part)->device->backend;
}

static ambit_status open_message(const ambit__exchange *x, const ambit__channel *m,
                                 ambit__message **message, ambit__event **event)
{
  ambit__device *dev = ambit__engine_of(x->program->grid, m->part)->device;

  AMBIT_TRY(ambit__ask(dev, message_open, m->bytes, message));
  (*message)->direct = is_direct(x, m, *message);
  return ambit__can(dev->backend, mark) ? ambit__ask(dev, event_open, false, event) : AMBIT_OK;
}

static ambit_status open_channel(ambit__exchange *x, ambit__channel *m)
{
  const ambit_grid *g = x->program->grid;

  if (g->mine[m->other])
    m->peer = find_channel(x, m->other - g->first, m->part + g->first, !m->incoming);
  AMBIT_TRY(open_message(x, m, &m->message, &m->packed));
  if (m->incoming && m->packed) return open_message(x, m, &m->spare, &m->spare_packed);
  return AMBIT_OK;
}

static void close_channel(ambit__exchange *x, ambit__channel *m)
{
  ambit__device *dev = ambit__engine_of(x->program->grid, m->part)->device;

  if (m->request.active) ambit__net_cancel(ambit__exchange_context(x)->net, &m->request, 1);
  if (m->note.active) ambit__net_cancel(ambit__exchange_context(x)->net, &m->note, 1);
  if (m->packed) ambit__ask(dev, event_close, m->packed);
  if (m->spare_packed) ambit__ask(dev, event_close, m->spare_packed);
  if (m->message) ambit__ask(dev, message_close, m->message);
  if (m->spare) ambit__ask(dev, message_close, m->spare);
  free(m->items);
}

/* ---- early boxes ---- */

/* Whether ghost cells lo..hi-1 of an axis copy own cells or are constant. */
static bool from_own(ambit_boundary kind, int64_t extent, int64_t lo, int64_t hi, int64_t own_lo,
                     int64_t own_hi)
{
  for (int64_t i = lo; kind != AMBIT_CONSTANT && i < hi; i++) {
    int64_t at = ambit__boundary_map(kind, extent, i);

    if (at < own_lo || at >= own_hi) return false;
  }
  return true;
}

/* Own cells, and the ghost cells at faces of the grid that copy own cells. */
static ambit__box early_box(const ambit__exchange *x, const ambit__halo_slice *f, int part)
{
  const ambit_grid *g = x->program->grid;
  const ambit__reach *r = &f->halo.reaches[g->first + part];
  ambit__box box = ambit__field_part(f->field, g->first + part);
  const ambit__box own = box;

  if (ambit__box_is_empty(&own) || !f->has_ghosts) return box;
  for (int d = 0; d < box.ndims; d++) {
    int64_t n = g->box.hi[d];

    if (f->field->dropped >> d & 1) continue;
    if (own.lo[d] == 0 && r->given.lo[d] == 0 && r->reach.lo[d] < 0 &&
        from_own(f->boundaries->kind[d][0], n, r->reach.lo[d], 0, own.lo[d], own.hi[d]))
      box.lo[d] = r->reach.lo[d];
    if (own.hi[d] == n && r->given.hi[d] == n && r->reach.hi[d] > n &&
        from_own(f->boundaries->kind[d][1], n, n, r->reach.hi[d], own.lo[d], own.hi[d]))
      box.hi[d] = r->reach.hi[d];
  }
  return box;
}

static ambit_status find_early(ambit__exchange *x)
{
  const int nparts = x->program->grid->placement.n;

  AMBIT_HOLD(x->program, x->early, (size_t)x->nslices * (size_t)nparts);
  for (int i = 0; i < x->nslices; i++)
    for (int k = 0; k < nparts; k++)
      *ambit__exchange_early(x, i, k) = early_box(x, x->slices[i], k);
  return AMBIT_OK;
}

/* ---- exchanges ---- */

static ambit_status make(ambit__exchange *x, const ambit__halos *from, const int *halos, int n)
{
  for (int i = 0; i < n; i++)
    x->nslices += from->list[halos ? halos[i] : i].nslices;
  AMBIT_HOLD(x->program, x->slices, (size_t)x->nslices);
  x->nslices = 0;
  for (int i = 0; i < n; i++) {
    const ambit__field_halo *h = &from->list[halos ? halos[i] : i];

    for (int k = 0; k < h->nslices; k++)
      x->slices[x->nslices++] = &h->slices[k];
  }
  AMBIT_TRY(find_early(x));
  AMBIT_TRY(ambit__exchange_make_local(x));
  if (x->kind == EXCHANGE_GHOSTS) return AMBIT_OK;
  AMBIT_TRY(add_channels(x));
  if (x->nchannels) AMBIT_TRY(ambit__queues_open(x));
  for (int i = 0; i < x->nchannels; i++)
    AMBIT_TRY(open_channel(x, &x->channels[i]));
  return AMBIT_OK;
}

ambit_status ambit__exchange_make(ambit_program *p, ambit__exchange_kind kind,
                                  const ambit__halos *from, const int *halos, int n, int tag,
                                  ambit__exchange **x)
{
  AMBIT_HOLD(p, *x, 1);
  **x = (ambit__exchange){.program = p, .kind = kind, .tag = tag};
  p->exchanges[p->nexchanges++] = *x;
  return make(*x, from, halos, n);
}

void ambit__exchange_close(ambit__exchange *x)
{
  for (int i = 0; i < x->nchannels; i++)
    close_channel(x, &x->channels[i]);
  ambit__queues_close(x);
  for (int i = 0; i < LOCAL_PHASES; i++)
    ambit__move_set_free(ambit__exchange_context(x), &x->local[i]);
  free(x->channels);
}
