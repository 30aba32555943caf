/* SPDX-License-Identifier: BSD-3-Clause */
/* recut.c - moves the cut of a grid: other boxes for its parts, with the values of all fields.
 *
 * Fields are moved one after the other: memory for the new parts, then every box that an old and a
 * new part share, then the old memory is released. Boxes within a device are copied there, others
 * pass through host memory in pieces, in the same order on all processes. Values are copied bit by
 * bit, so results do not depend on where the cut is.
 */
#include "base/memory.h"
#include "runtime/objects/scribe.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 0 }; /* nothing else is in flight */

/* How a grid is cut. */
typedef struct cut {
  int nparts, split;
  int first;         /* part of this process */
  ambit__box *parts; /* owned, like the following */
  ambit__placement placement;
  bool *mine;
  ambit__active *active, *local; /* of a sparse grid, with its layers; NULL: dense */
  ambit__layers layers;
} cut;

/* One field on its way. */
typedef struct removal {
  ambit_field *field;
  const cut *old;           /* the grid has the new one */
  ambit__store *from, *now; /* by part of this process, old and new */
  void *piece;              /* of values in host memory */
} removal;

static ambit__engine *engine_of(const ambit_grid *g, const cut *c, int part)
{
  return &g->context->engines[c->placement.engine[part]];
}

/* ---- cuts ---- */

static cut cut_of(const ambit_grid *g)
{
  return (cut){.nparts = g->nparts,
               .split = g->split,
               .first = g->first,
               .parts = g->parts,
               .placement = g->placement,
               .mine = g->mine,
               .active = g->active,
               .local = g->local,
               .layers = g->layers};
}

static void set_cut(ambit_grid *g, const cut *c)
{
  if (g->active) ambit__scribe_wait(g->context); /* snapshots use it */
  g->nparts = c->nparts;
  g->split = c->split;
  g->first = c->first;
  g->parts = c->parts;
  g->placement = c->placement;
  g->mine = c->mine;
  g->active = c->active;
  g->local = c->local;
  g->layers = c->layers;
}

static void free_cut(cut *c)
{
  ambit__active_free_all(c->active, c->local, c->placement.n);
  ambit__placement_free(&c->placement);
  free(c->parts);
  free(c->mine);
}

/* The part that alone has a weight, if this process is the only one, and the part is on the first
 * device, which is then as good as the only one. -1: none. */
static int sole_part(const ambit *a, const double *weights)
{
  int sole = -1;

  if (a->net->size > 1) return -1;
  for (int i = 0; i < a->placement.n; i++)
    if (weights[i] > 0) {
      if (sole >= 0) return -1;
      sole = i;
    }
  return sole >= 0 && a->placement.engine[sole] == 0 ? sole : -1;
}

/* Room for the parts of a placement. */
static ambit_status make_parts(const ambit_grid *g, cut *c)
{
  ambit *a = g->context;

  c->nparts = c->placement.first[a->net->size];
  c->first = c->placement.first[a->net->rank];
  return ambit__placement_parts(a, &c->placement, &c->parts, &c->mine);
}

/* The parts for some weights. Parts without cells stay, unless one has them all. */
static ambit_status make_cut(const ambit_grid *g, const double *weights, cut *c)
{
  ambit *a = g->context;
  const bool alone = sole_part(a, weights) >= 0;

  AMBIT_TRY(ambit__placement_copy(a, &c->placement));
  if (alone) {
    c->placement.n = c->placement.most = c->placement.first[1] = 1;
    c->placement.engine[0] = 0;
  }
  AMBIT_TRY(make_parts(g, c));
  if (!alone) return ambit__grid_cut(g, weights, c->parts);
  c->parts[0] = g->box;
  return AMBIT_OK;
}

static bool same_parts(const ambit_grid *g, const cut *c)
{
  for (int i = 0; i < g->nparts; i++)
    if (g->nparts != c->nparts || !ambit__box_equal(&g->parts[i], &c->parts[i])) return false;
  return true;
}

/* ---- memory ---- */

/* Of a field on a part of this process. Margins are the same on all parts. */
static ambit__layout layout_on(const ambit_field *f, const cut *c, int part)
{
  ambit__layout l = f->stores[0].layout;

  l.own = c->parts[c->first + part];
  l.active = c->local ? &c->local[part] : NULL;
  l.line = engine_of(f->grid, c, part)->backend->line;
  l.turn = l.line ? f->grid->turn : 0;
  return l;
}

/* Whether an engine holds every field once, and each in turn twice. */
static bool fits(const ambit_grid *g, int engine, const cut *c)
{
  const ambit__engine *e = &g->context->engines[engine];
  size_t now = e->allocated, most = now;
  ambit__device_info info = {0};

  for (const ambit__link *i = g->fields.next; i->owner; i = i->next) {
    const ambit_field *f = i->owner;

    for (int k = 0; k < c->placement.n; k++) {
      ambit__layout l = layout_on(f, c, k);

      if (!ambit__layout_make(&l)) return false;
      if (c->placement.engine[k] == engine) now += l.bytes;
    }
    if (now > most) most = now;
    for (int k = 0; k < g->placement.n; k++)
      if (g->placement.engine[k] == engine) now -= f->stores[k].layout.bytes;
  }
  e->device->backend->info(e->device, &info);
  return most <= e->memory && (!info.free || most - e->allocated <= info.free);
}

static ambit_status all_fit(const ambit_grid *g, const cut *c, bool *fit)
{
  *fit = true;
  for (int i = 0; i < g->context->nengines; i++)
    *fit &= fits(g, i, c);
  return ambit__net_all(g->context->net, fit, 1);
}

static ambit_status allocate(const removal *r)
{
  const ambit_grid *g = r->field->grid;
  const cut now = cut_of(g);

  for (int k = 0; k < g->placement.n; k++) {
    r->now[k].layout = layout_on(r->field, &now, k);
    AMBIT_TRY(ambit__store_allocate(r->field, k, &r->now[k]));
  }
  return AMBIT_OK;
}

/* ---- values ---- */

static ambit_status put(const removal *r, int part, const ambit__box *piece)
{
  const ambit__engine *e = ambit__engine_of(r->field->grid, part);

  return ambit__do(e->queue, write, &r->now[part], piece, r->piece);
}

/* Moves a piece from old part i to new part k, at least one of which is here. */
static ambit_status move_piece(const removal *r, int i, int k, const ambit__box *piece)
{
  const ambit_grid *g = r->field->grid;
  const bool sends = r->old->mine[i], gets = g->mine[k];
  const size_t bytes = (size_t)ambit__box_volume(piece) * ambit__field_cell_bytes(r->field);
  ambit__net *net = g->context->net;
  ambit__request q = {0};

  if (sends && g->active) memset(r->piece, 0, bytes); /* inactive cells are not taken */
  if (sends) {
    const int part = i - r->old->first;
    const ambit__engine *e = engine_of(g, r->old, part);

    AMBIT_TRY(ambit__do(e->queue, read, r->piece, &r->from[part], piece));
  }
  if (sends && gets) return put(r, k - g->first, piece);
  AMBIT_TRY(sends ? ambit__net_send(net, ambit__grid_process(g, k), TAG, r->piece, bytes, &q)
                  : ambit__net_receive(net, ambit__placement_process(&r->old->placement, i), TAG,
                                       r->piece, bytes, &q));
  AMBIT_TRY(ambit__net_wait(net, &q, 1));
  return gets ? put(r, k - g->first, piece) : AMBIT_OK;
}

/* Moves the cells that old part i and new part k share. */
static ambit_status move_box(const removal *r, int i, int k)
{
  const ambit_grid *g = r->field->grid;
  const int64_t most = ambit__field_piece_cells(r->field);
  const ambit__box box = ambit__box_intersect(&r->old->parts[i], &g->parts[k]);
  ambit__box piece;

  if (ambit__box_is_empty(&box) || (!r->old->mine[i] && !g->mine[k])) return AMBIT_OK;
  if (r->old->mine[i] && g->mine[k]) {
    const int from = i - r->old->first;
    const ambit__engine *e = engine_of(g, r->old, from);

    if (e == ambit__engine_of(g, k - g->first))
      return ambit__do(e->queue, copy, &r->now[k - g->first], &r->from[from], &box, NULL);
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

  for (int i = 0; i < r->old->nparts; i++)
    for (int k = 0; k < g->nparts; k++)
      AMBIT_TRY(move_box(r, i, k));
  return ambit__engines_wait(g->context);
}

static void release(const ambit_grid *g, const cut *c, ambit__store *stores)
{
  for (int k = 0; stores && k < c->placement.n; k++)
    ambit__store_release(engine_of(g, c, k), &stores[k]);
  free(stores);
}

static ambit_status move_field(ambit_field *f, const cut *old)
{
  const ambit_grid *g = f->grid;
  const cut now = cut_of(g);
  removal r = {.field = f, .old = old, .from = f->stores};
  ambit_status s;

  r.now = ambit__new(ambit__field_errors(f), (size_t)g->placement.n, sizeof *r.now);
  r.piece = r.now ? ambit__field_piece_new(f) : NULL;
  if (r.piece) allocate(&r);
  s = same_parts(g, old) ? g->context->errors.status : ambit__net_agree(g->context->net);
  if (!s) s = move_values(&r);
  if (!s) f->stores = r.now;
  release(g, s ? &now : old, s ? r.now : r.from);
  free(r.piece);
  f->ghosts = (ambit__ghosts){0};
  return s;
}

static ambit_status move_fields(ambit_grid *g, const cut *old)
{
  for (ambit__link *i = g->fields.next; i->owner; i = i->next)
    AMBIT_TRY(move_field(i->owner, old));
  return AMBIT_OK;
}

ambit_status ambit__grid_recut(ambit_grid *g, const double *weights, bool *moved)
{
  cut old = cut_of(g), now = {0};
  ambit_status s;

  *moved = false;
  if (g->nested) return AMBIT_OK;
  make_cut(g, weights, &now);
  s = ambit__net_agree(g->context->net);
  if (!s && !same_parts(g, &now)) s = all_fit(g, &now, moved);
  if (s || !*moved) {
    free_cut(&now);
    return s;
  }
  ambit__grid_changed(g);
  set_cut(g, &now);
  s = move_fields(g, &old);
  free_cut(&old);
  ambit__engines_tell_alone(g->context);
  return s;
}

/* What a sparse grid becomes. */
static ambit_status make_sparse(const ambit_grid *g, const ambit__box *parts, cut *c)
{
  AMBIT_TRY(ambit__placement_copy(g->context, &c->placement));
  AMBIT_TRY(ambit__placement_split(g->context, c->split, &c->placement));
  AMBIT_TRY(make_parts(g, c));
  memcpy(c->parts, parts, (size_t)c->nparts * sizeof *parts);
  c->local = ambit__grid_local(g, c->parts + c->first, c->placement.n, c->active, &c->layers);
  return c->local ? AMBIT_OK : g->context->errors.status;
}

/* ambit_field_fill walks over the runs of cells, and its function may call Ambit. */
static ambit_status check_unfilled(const ambit_grid *g)
{
  for (const ambit__link *l = g->fields.next; l->owner; l = l->next) {
    const ambit_field *f = l->owner;

    AMBIT_CHECK(!f->is_held, &g->context->errors, AMBIT_EPROGRAM,
                "a function that fills field '%s' cannot store its grid anew: activate cells and "
                "run programs before ambit_field_fill, or after it",
                f->name);
  }
  return AMBIT_OK;
}

ambit_status ambit__grid_restore(ambit_grid *g, ambit__active *active, const ambit__box *parts,
                                 int split, const ambit__layers *layers)
{
  cut old = cut_of(g), now = {.active = active, .split = split, .layers = *layers};
  ambit_status s = check_unfilled(g);

  if (!s) s = make_sparse(g, parts, &now);
  if (parts != g->parts) s = ambit__net_agree(g->context->net);
  if (s) {
    free_cut(&now);
    return s;
  }
  set_cut(g, &now);
  s = move_fields(g, &old);
  free_cut(&old);
  return s;
}
