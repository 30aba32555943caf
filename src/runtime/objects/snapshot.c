/* SPDX-License-Identifier: BSD-3-Clause */
/* snapshot.c - copies of fields for jobs that write them.
 *
 * A copy on the device is a store like that of the field, allocated and read through a twin: the
 * same device, opened again, with queues and errors of its own. A copy in host memory is the dense
 * array of the own cells of a part; on a sparse grid, a store like that of the field.
 */
#include "base/log.h"
#include "base/memory.h"
#include "device/host.h"
#include "runtime/objects/scribe.h"

#include <stdlib.h>
#include <string.h>

/* The part of free memory that a copy may take. */
static const double SHARE = 0.75;

static const ambit__backend host_table = {
    .name = "host",
    .execute = ambit__host_execute,
    .serve = ambit__host_serve,
};

typedef struct snapshot {
  ambit__snapshot head;
  ambit__device host; /* for copies in host memory */
  ambit__queue queue; /* of it */
} snapshot;

/* ---- copies of one part ---- */

/* The own cells of a part as a dense array, as the command read gives them. */
static void make_dense(ambit__layout *l)
{
  int64_t step = l->components;

  l->order = AMBIT_AOS;
  l->component = 1;
  l->origin = 0;
  for (int d = l->own.ndims - 1; d >= 0; d--) {
    l->margin_lo[d] = l->margin_hi[d] = 0;
    l->stride[d] = step;
    step *= l->own.hi[d] - l->own.lo[d];
  }
  l->bytes = (size_t)step * ambit_type_size(l->type);
}

/* Piece by piece, as a box may have far more cells than are active. */
static ambit_status copy_sparse(ambit_field *f, int part, ambit__store *to)
{
  const ambit__engine *e = ambit__engine_of(f->grid, part);
  const int64_t most = ambit__field_piece_cells(f);
  void *dense = ambit__field_piece_new(f);
  ambit_status s = dense ? AMBIT_OK : AMBIT_ENOMEM;
  ambit__box piece;

  ambit__box_first_piece(&to->layout.own, most, &piece);
  do {
    if (s || !ambit__active_count(to->layout.active, &piece)) continue;
    s = ambit__do(e->queue, read, dense, &f->stores[part], &piece);
    if (!s) s = ambit__host_do(NULL, write, to, &piece, dense);
  } while (ambit__box_next_piece(&to->layout.own, most, &piece));
  free(dense);
  return s;
}

static ambit_status copy_part(ambit_field *f, int part, ambit__store *to, bool on_device)
{
  const ambit__engine *e = ambit__engine_of(f->grid, part);
  ambit__store *from = &f->stores[part];

  if (ambit__box_is_empty(&to->layout.own)) return AMBIT_OK;
  if (on_device) return ambit__do(e->queue, copy, to, from, &to->layout.own, NULL);
  if (to->layout.active) return copy_sparse(f, part, to);
  return ambit__do(e->queue, read, ambit__host_base(to->buffer), from, &to->layout.own);
}

/* ---- twins ---- */

/* Opens the devices again whose memory a second thread can read. */
static void open_twins(ambit *a, ambit__scribe *w)
{
  if (w->ntwins || !a->nengines) return;
  w->twins = ambit__new(NULL, (size_t)a->nengines, sizeof *w->twins);
  if (!w->twins) return;
  w->ntwins = a->nengines;
  for (int i = 0; i < a->nengines; i++) {
    const ambit__engine *e = &a->engines[i];
    ambit__engine *t = &w->twins[i];

    if (!e->device->backend->twins) continue;
    if (e->backend->open(&w->errors, &a->settings, e->ordinal, &t->device)) t->device = NULL;
    if (t->device && ambit__ask(t->device, queue_open, false, &t->queue)) {
      t->device->backend->close(t->device);
      *t = (ambit__engine){0};
    }
  }
  ambit__errors_clear(&w->errors);
}

/* ---- the context of the copies ---- */

static ambit_grid *copy_grid(snapshot *s, const ambit_grid *from)
{
  ambit_grid *g = ambit__new(NULL, 1, sizeof *g);
  const size_t n = (size_t)from->placement.n;

  if (!g) return NULL;
  *g = (ambit_grid){.context = &s->head.context,
                    .box = from->box,
                    .active = from->active,
                    .placement = {.n = from->placement.n}};
  memcpy(g->origin, from->origin, sizeof g->origin);
  memcpy(g->spacing, from->spacing, sizeof g->spacing);
  ambit__list_init(&g->fields);
  ambit__list_add(&s->head.context.grids, &g->link, g);
  g->placement.engine = ambit__new(NULL, n, sizeof *g->placement.engine);
  if (!g->placement.engine) return NULL;
  memcpy(g->placement.engine, from->placement.engine, n * sizeof *g->placement.engine);
  return g;
}

/* The copy of a grid: they are in the same order. */
static ambit_grid *grid_like(const snapshot *s, const ambit_grid *from)
{
  const ambit__link *l = s->head.context.grids.next;

  for (const ambit__link *k = from->context->grids.next; k->owner != from; k = k->next)
    l = l->next;
  return l->owner;
}

static ambit_field *copy_field(snapshot *s, const ambit_field *from)
{
  ambit_field *f = ambit__new(NULL, 1, sizeof *f);

  if (!f) return NULL;
  *f = (ambit_field){.grid = grid_like(s, from->grid),
                     .type = from->type,
                     .components = from->components,
                     .order = from->order,
                     .asked = from->asked,
                     .dropped = from->dropped,
                     .boundaries = from->boundaries};
  ambit__list_add(&f->grid->fields, &f->link, f);
  f->name = ambit__strdup(NULL, from->name);
  f->stores = ambit__new(NULL, (size_t)f->grid->placement.n, sizeof *f->stores);
  if (!f->name || !f->stores) return NULL;
  for (int i = 0; i < f->grid->placement.n; i++)
    f->stores[i].layout = from->stores[i].layout;
  if (from->special) {
    f->special = ambit__new(NULL, (size_t)f->components, sizeof *f->special);
    if (!f->special) return NULL;
    memcpy(f->special, from->special, (size_t)f->components * sizeof *f->special);
  }
  return f;
}

static bool is_on_device(const snapshot *s, const ambit_grid *g, int part)
{
  return ambit__engine_of(g, part)->device != &s->host;
}

/* `twins`: on devices that have one, else all in host memory. */
static ambit_status make_context(snapshot *s, ambit *a, int n, ambit_field *const *fields,
                                 bool twins)
{
  ambit *c = &s->head.context;

  ambit__list_init(&c->grids);
  ambit__list_init(&c->scalars);
  c->settings = a->settings;
  c->net = a->net; /* for its numbers */
  c->fork_number = a->fork_number;
  s->host = (ambit__device){.backend = &host_table, .errors = &c->errors, .settings = &c->settings};
  s->queue.device = &s->host;
  AMBIT_NEW(NULL, c->engines, (size_t)a->nengines);
  AMBIT_NEW(NULL, s->head.fields, (size_t)n);
  c->nengines = a->nengines;
  for (int i = 0; i < a->nengines; i++)
    c->engines[i] = twins && a->scribe->ntwins && a->scribe->twins[i].device
                        ? a->scribe->twins[i]
                        : (ambit__engine){.device = &s->host, .queue = &s->queue};
  for (const ambit__link *l = a->grids.next; l->owner; l = l->next)
    if (!copy_grid(s, l->owner)) return AMBIT_ENOMEM;
  for (s->head.n = 0; s->head.n < n; s->head.n++) {
    ambit_field *f = copy_field(s, fields[s->head.n]);

    if (!f) return AMBIT_ENOMEM;
    s->head.fields[s->head.n] = f;
  }
  return AMBIT_OK;
}

static void free_field(ambit_field *f)
{
  for (int i = 0; f->stores && i < f->grid->placement.n; i++) {
    ambit__device *d = ambit__engine_of(f->grid, i)->device;

    if (f->stores[i].buffer) ambit__ask(d, release, f->stores[i].buffer);
  }
  ambit__list_remove(&f->link);
  free(f->special);
  free(f->stores);
  free(f->name);
  free(f);
}

void ambit__snapshot_free(ambit__snapshot *s)
{
  if (!s) return;
  while (s->context.grids.next && s->context.grids.next->owner) {
    ambit_grid *g = s->context.grids.next->owner;

    while (g->fields.next->owner)
      free_field(g->fields.next->owner);
    ambit__list_remove(&g->link);
    free(g->placement.engine);
    free(g);
  }
  free(s->context.engines);
  free(s->fields);
  ambit__errors_clear(&s->context.errors);
  free(s);
}

/* ---- memory ---- */

/* Whether all copies fit; makes those in host memory dense. */
static bool fits(snapshot *s, const ambit *a)
{
  size_t *need = ambit__new(NULL, (size_t)a->nengines, sizeof *need), memory, free_memory, host = 0;
  bool fit = need != NULL;

  for (int k = 0; fit && k < s->head.n; k++) {
    ambit_field *f = s->head.fields[k];

    for (int i = 0; i < f->grid->placement.n; i++) {
      ambit__layout *l = &f->stores[i].layout;

      if (!is_on_device(s, f->grid, i) && !l->active) make_dense(l);
      s->head.bytes += l->bytes;
      if (is_on_device(s, f->grid, i))
        need[f->grid->placement.engine[i]] += l->bytes;
      else
        host += l->bytes;
    }
  }
  ambit__host_memory(&memory, &free_memory);
  fit = fit && (double)host <= SHARE * (double)free_memory;
  for (int i = 0; fit && i < a->nengines; i++)
    fit = !need[i] || (double)need[i] <=
                          SHARE * ((double)a->engines[i].memory - (double)a->engines[i].allocated);
  free(need);
  return fit;
}

static ambit_status allocate(snapshot *s)
{
  for (int k = 0; k < s->head.n; k++) {
    ambit_field *f = s->head.fields[k];

    for (int i = 0; i < f->grid->placement.n; i++) {
      ambit__store *to = &f->stores[i];
      ambit__device *d = ambit__engine_of(f->grid, i)->device;

      AMBIT_TRY(ambit__ask(d, alloc, to->layout.bytes, &to->layout, &to->buffer));
    }
  }
  return AMBIT_OK;
}

/* ---- taking one ---- */

/* NULL: no memory for it. */
static snapshot *make(ambit *a, int n, ambit_field *const *fields, bool twins)
{
  snapshot *s = ambit__new(NULL, 1, sizeof *s);

  if (s && (make_context(s, a, n, fields, twins) || !fits(s, a) || allocate(s))) {
    ambit__snapshot_free(&s->head);
    s = NULL;
  }
  ambit__errors_clear(&a->scribe->errors);
  return s;
}

static bool has_twins(const ambit__scribe *w)
{
  for (int i = 0; i < w->ntwins; i++)
    if (w->twins[i].device) return true;
  return false;
}

/* Once: devices wait for every one of them. */
static void warn(ambit *a, int n, ambit_field *const *fields)
{
  size_t memory, free_memory, bytes = 0;

  if (a->scribe->has_warned) return;
  a->scribe->has_warned = true;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < fields[k]->grid->placement.n; i++)
      bytes += fields[k]->stores[i].layout.bytes;
  ambit__host_memory(&memory, &free_memory);
  ambit__log(&a->settings, 0,
             "not enough memory for a copy of the fields to save, %.3g GB, where %.3g GB are "
             "free: devices wait while checkpoints and outputs are written",
             1e-9 * (double)bytes, 1e-9 * (double)free_memory);
}

ambit_status ambit__snapshot_take(ambit *a, int n, ambit_field *const *fields,
                                  ambit__snapshot **out)
{
  ambit__scribe *w = ambit__scribe_of(a);
  ambit_status status = AMBIT_OK;
  snapshot *s;

  *out = NULL;
  if (!w) return AMBIT_OK;
  ambit__scribe_wait(a);
  open_twins(a, w);
  s = make(a, n, fields, true);
  if (!s && has_twins(w)) { /* in host memory, which takes a while */
    s = make(a, n, fields, false);
    if (s) ambit__log(&a->settings, 1, "the device has no room for a copy of its fields");
  }
  if (!s) {
    warn(a, n, fields);
    return AMBIT_OK;
  }
  for (int k = 0; !status && k < n; k++)
    for (int i = 0; !status && i < fields[k]->grid->placement.n; i++)
      status = copy_part(fields[k], i, &s->head.fields[k]->stores[i],
                         is_on_device(s, s->head.fields[k]->grid, i));
  if (!status) status = ambit__engines_wait(a);
  if (status) {
    ambit__snapshot_free(&s->head);
    return status;
  }
  *out = &s->head;
  return AMBIT_OK;
}
