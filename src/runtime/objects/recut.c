/* SPDX-License-Identifier: BSD-3-Clause */
/* recut.c - moves the cut of a grid: other boxes for its parts, with the values of all fields.
 *
 * Fields are moved one after the other: memory for the new parts, then every box that an old and a
 * new part share, then the old memory is released. Boxes within a device are copied there, others
 * pass through host memory in pieces, in the same order on all processes. Values are copied bit by
 * bit, so results do not depend on where the cut is.
 */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 0 }; /* nothing else is in flight */

/* One field on its way. */
typedef struct removal {
  ambit_field *field;
  const ambit__box *from;  /* the old parts */
  ambit__store *old, *now; /* by part of this process */
  void *piece;             /* of values in host memory */
} removal;

/* ---- memory ---- */

static ambit__layout layout_on(const ambit_field *f, int part, const ambit__box *own)
{
  ambit__layout l = f->stores[part].layout;

  l.own = *own;
  return l;
}

/* Whether an engine holds every field once, and each in turn twice. */
static bool fits(const ambit_grid *g, int engine, const ambit__box *parts)
{
  const ambit__engine *e = &g->context->engines[engine];
  size_t now = e->allocated, most = now;
  ambit__device_info info = {0};

  for (const ambit__link *i = g->fields.next; i->owner; i = i->next) {
    size_t old = 0;

    for (int k = 0; k < g->placement.n; k++) {
      ambit__layout l = layout_on(i->owner, k, &parts[g->first + k]);

      if (g->placement.engine[k] != engine) continue;
      if (!ambit__layout_make(&l)) return false;
      old += ((const ambit_field *)i->owner)->stores[k].layout.bytes;
      now += l.bytes;
    }
    if (now > most) most = now;
    now -= old;
  }
  e->device->backend->info(e->device, &info);
  return most <= e->memory && (!info.free || most - e->allocated <= info.free);
}

static ambit_status all_fit(const ambit_grid *g, const ambit__box *parts, bool *fit)
{
  *fit = true;
  for (int i = 0; i < g->context->nengines; i++)
    *fit &= fits(g, i, parts);
  return ambit__net_all(g->context->net, fit, 1);
}

static ambit_status allocate(const removal *r)
{
  const ambit_grid *g = r->field->grid;

  for (int k = 0; k < g->placement.n; k++) {
    r->now[k].layout = layout_on(r->field, k, &g->parts[g->first + k]);
    AMBIT_TRY(ambit__store_allocate(r->field, k, &r->now[k]));
  }
  return AMBIT_OK;
}

/* ---- values ---- */

static ambit_status take(const removal *r, int part, const ambit__box *piece)
{
  const ambit__engine *e = ambit__engine_of(r->field->grid, part);

  return e->device->backend->read_box(e->queue, r->piece, &r->old[part], piece);
}

static ambit_status put(const removal *r, int part, const ambit__box *piece)
{
  const ambit__engine *e = ambit__engine_of(r->field->grid, part);

  return e->device->backend->write_box(e->queue, &r->now[part], piece, r->piece);
}

/* Moves a piece from old part i to new part k, at least one of which is here. */
static ambit_status move_piece(const removal *r, int i, int k, const ambit__box *piece)
{
  const ambit_grid *g = r->field->grid;
  ambit__net *net = g->context->net;
  const size_t bytes = (size_t)ambit__box_volume(piece) * ambit__field_cell_bytes(r->field);
  ambit__request request = {0};

  if (g->mine[i]) AMBIT_TRY(take(r, i - g->first, piece));
  if (g->mine[i] && g->mine[k]) return put(r, k - g->first, piece);
  AMBIT_TRY(
      g->mine[i]
          ? ambit__net_send(net, ambit__grid_process(g, k), TAG, r->piece, bytes, &request)
          : ambit__net_receive(net, ambit__grid_process(g, i), TAG, r->piece, bytes, &request));
  AMBIT_TRY(ambit__net_wait(net, &request, 1));
  return g->mine[k] ? put(r, k - g->first, piece) : AMBIT_OK;
}

/* Moves the cells that old part i and new part k share. */
static ambit_status move_box(const removal *r, int i, int k)
{
  const ambit_grid *g = r->field->grid;
  const int64_t most = ambit__field_piece_cells(r->field);
  const ambit__box box = ambit__box_intersect(&r->from[i], &g->parts[k]);
  ambit__box piece;

  if (ambit__box_is_empty(&box) || (!g->mine[i] && !g->mine[k])) return AMBIT_OK;
  if (g->mine[i] && g->mine[k]) {
    const ambit__engine *from = ambit__engine_of(g, i - g->first);

    if (from == ambit__engine_of(g, k - g->first) && from->device->backend->copy_box)
      return from->device->backend->copy_box(from->queue, &r->now[k - g->first],
                                             &r->old[i - g->first], &box, NULL);
  }
  ambit__box_first_piece(&box, most, &piece);
  do
    AMBIT_TRY(move_piece(r, i, k, &piece));
  while (ambit__box_next_piece(&box, most, &piece));
  return AMBIT_OK;
}

static ambit_status move_values(const removal *r)
{
  const ambit_grid *g = r->field->grid;

  for (int i = 0; i < g->nparts; i++)
    for (int k = 0; k < g->nparts; k++)
      AMBIT_TRY(move_box(r, i, k));
  return ambit__engines_wait(g->context);
}

static ambit_status move_field(ambit_field *f, const ambit__box *from)
{
  const ambit_grid *g = f->grid;
  removal r = {.field = f, .from = from, .old = f->stores};
  ambit_status s = AMBIT_OK;

  r.now = ambit__new(ambit__field_errors(f), (size_t)g->placement.n, sizeof *r.now);
  r.piece = r.now ? ambit__field_piece_new(f) : NULL;
  if (r.piece) s = allocate(&r);
  (void)s; /* the agreement knows of it */
  s = ambit__net_agree(g->context->net);
  if (!s) s = move_values(&r);
  if (!s) f->stores = r.now;
  for (int k = 0; r.now && k < g->placement.n; k++)
    ambit__store_release(ambit__engine_of(g, k), s ? &r.now[k] : &r.old[k]);
  free(s ? r.now : r.old);
  free(r.piece);
  f->ghosts = (ambit__ghosts){0};
  return s;
}

/* ---- grids ---- */

static ambit_status move_fields(ambit_grid *g, const ambit__box *from)
{
  for (ambit__link *i = g->fields.next; i->owner; i = i->next)
    AMBIT_TRY(move_field(i->owner, from));
  return AMBIT_OK;
}

static bool same_parts(const ambit_grid *g, const ambit__box *parts)
{
  for (int i = 0; i < g->nparts; i++)
    if (!ambit__box_equal(&g->parts[i], &parts[i])) return false;
  return true;
}

ambit_status ambit__grid_recut(ambit_grid *g, const double *weights, bool *moved)
{
  ambit__box *parts = ambit__new(&g->context->errors, (size_t)g->nparts, sizeof *parts);
  ambit__box *old;
  ambit_status s;

  *moved = false;
  if (parts) ambit__grid_cut(g, weights, parts);
  s = ambit__net_agree(g->context->net);
  if (!s && !same_parts(g, parts)) s = all_fit(g, parts, moved);
  if (s || !*moved) {
    free(parts);
    return s;
  }
  old = g->parts;
  ambit__grid_changed(g);
  g->parts = parts;
  s = move_fields(g, old);
  free(old);
  return s;
}
