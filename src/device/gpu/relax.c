/* SPDX-License-Identifier: BSD-3-Clause */
/* relax.c - brings a part to rest, in rounds that the device makes by itself.
 *
 * A round is a launch over the list of awake tiles (nest/tiles.c), which makes the list of the next
 * one. The host submits a few rounds at a time and then looks whether tiles are left; in between,
 * it can submit work to other devices. The values stay in the store that is read; the result is
 * copied to the other one at the end.
 */
#include "device/gpu/gpu.h"
#include "plan/gpu.h"

#include "base/memory.h"

#include <stdlib.h>

enum {
  ROUNDS = 8,     /* submitted at a time */
  PATIENCE = 1024 /* updates per cell before a part is given up for this iteration */
};

typedef struct relaxer {
  ambit__gpu_device *device;
  ambit__gpu_lane *lane;
  ambit__relaxation *r;
  const ambit__tiling *tiling;
  ambit__gpu_rest *rest; /* of the part */
  ambit__function *fn;
  const ambit__launch *l;
  ambit__gpu_tiled tiled;
  uint32_t passes; /* over tiles, so far */
} relaxer;

/* ---- tables ---- */

static ambit_status send_table(relaxer *x)
{
  const int ndims = x->r->map->ndims;
  const int64_t n = x->tiling->n;
  int64_t *rows = ambit__new(x->device->head.errors, (size_t)(n * ndims), 2 * sizeof *rows);
  ambit_status s;

  if (!rows) return AMBIT_ENOMEM;
  for (int64_t t = 0; t < n; t++) {
    const ambit__box box = ambit__tile_box(x->r->map, x->tiling->first + t);

    for (int d = 0; d < ndims; d++) {
      rows[2 * ndims * t + d] = box.lo[d] - x->tiling->own.lo[d];
      rows[2 * ndims * t + ndims + d] = box.hi[d] - x->tiling->own.lo[d];
    }
  }
  s = ambit__gpu_upload(x->device, rows, (size_t)(n * ndims) * 2 * sizeof *rows, &x->rest->table);
  free(rows);
  return s;
}

/* Where the tiles that read each tile are listed, then these, with the zone that they read. Tiles
 * of other parts are left out: they learn of changes by the next exchange. */
static void fill_links(const relaxer *x, int32_t *words)
{
  const ambit__tile_links *feeds = &x->r->map->feeds;
  int32_t *link = words + x->tiling->n + 1, *const begin = link;

  for (int64_t t = 0; t < x->tiling->n; t++) {
    words[t] = (int32_t)((link - begin) / 2);
    for (int64_t i = feeds->first[x->tiling->first + t]; i < feeds->first[x->tiling->first + t + 1];
         i++) {
      const ambit__tile_link *l = &feeds->list[i];

      if (x->r->map->part[l->tile] != x->r->part) continue;
      *link++ = (int32_t)(l->tile - x->tiling->first);
      *link++ = l->zone;
    }
  }
  words[x->tiling->n] = (int32_t)((link - begin) / 2);
}

static ambit_status send_links(relaxer *x)
{
  const int64_t *first = x->r->map->feeds.first + x->tiling->first;
  const size_t n = (size_t)(x->tiling->n + 1 + 2 * (first[x->tiling->n] - first[0]));
  int32_t *words = ambit__new(x->device->head.errors, n, sizeof *words);
  ambit_status s;

  if (!words) return AMBIT_ENOMEM;
  fill_links(x, words);
  s = ambit__gpu_upload(x->device, words, n * sizeof *words, &x->rest->links);
  free(words);
  return s;
}

/* Whether a tile has cells that read halos or ghost cells. */
static bool is_at_border(const relaxer *x, int64_t tile)
{
  const ambit__box box = ambit__tile_box(x->r->map, tile), *own = &x->tiling->own;

  for (int d = 0; d < box.ndims; d++)
    if (box.lo[d] < own->lo[d] + x->r->map->reach[d] ||
        box.hi[d] > own->hi[d] - x->r->map->reach[d])
      return true;
  return false;
}

static size_t state_bytes(const relaxer *x)
{
  return (AMBIT__TILES_HEAD + 4 * (size_t)x->tiling->n) * sizeof(int32_t);
}

/* The list of the first round, with its marks. */
static ambit_status send_first(relaxer *x)
{
  const int64_t n = x->tiling->n;
  int32_t *state = ambit__new(x->device->head.errors, state_bytes(x), 1);
  int32_t *marks = state + AMBIT__TILES_HEAD, *list = marks + 2 * n;
  ambit_status s;

  if (!state) return AMBIT_ENOMEM;
  for (int64_t t = 0; t < n; t++)
    if (!x->r->border || is_at_border(x, x->tiling->first + t)) {
      list[state[0]++] = (int32_t)t;
      marks[t] = 1;
    }
  s = ambit__gpu_upload(x->device, state, state_bytes(x), &x->rest->first[x->r->border]);
  free(state);
  return s;
}

/* Finds the tiles of the part in the list of the function, or sends them. */
static ambit_status prepare(relaxer *x, ambit__gpu_rest **list)
{
  const ambit__gpu_driver *driver = x->device->driver;

  for (x->rest = *list; x->rest && x->rest->part != x->r->part; x->rest = x->rest->next)
    ;
  if (!x->rest) {
    AMBIT_NEW(x->device->head.errors, x->rest, 1);
    x->rest->next = *list;
    x->rest->part = x->r->part;
    *list = x->rest;
  }
  if (!x->rest->table) AMBIT_TRY(send_table(x));
  if (!x->rest->links) AMBIT_TRY(send_links(x));
  if (!x->rest->state) AMBIT_TRY(driver->alloc(x->device->gpu, state_bytes(x), &x->rest->state));
  if (!x->rest->first[x->r->border]) AMBIT_TRY(send_first(x));
  return driver->copy(x->lane->queue, x->rest->state, 0, x->rest->first[x->r->border], 0,
                      state_bytes(x));
}

void ambit__gpu_rests_free(ambit__gpu_device *d, ambit__gpu_rest *list)
{
  for (ambit__gpu_rest *next; list; list = next) {
    ambit__gpu_memory *const all[] = {list->table, list->links, list->state, list->first[0],
                                      list->first[1]};

    next = list->next;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      if (all[i]) d->driver->release(all[i]);
    free(list);
  }
}

/* ---- rounds ---- */

static ambit_status submit(relaxer *x)
{
  for (int i = 0; i < ROUNDS; i++, x->tiled.round++)
    AMBIT_TRY(ambit__gpu_run_tiled(x->lane, x->fn, x->l, &x->tiled, x->tiling->n));
  return AMBIT_OK;
}

/* Looks at the rounds submitted last, and submits more if tiles are left. */
static ambit_status look(ambit__gpu_lane *lane, bool *done)
{
  relaxer *x = lane->unfinished;
  const double cells = (double)ambit__box_volume(&x->tiling->own);
  ambit__relaxation *r = x->r;
  int32_t head[AMBIT__TILES_HEAD];

  AMBIT_TRY(ambit__gpu_fetch(lane, head, x->rest->state, sizeof head));
  r->updates += ((uint32_t)head[AMBIT__TILES_PASSES] - x->passes) * cells / (double)x->tiling->n;
  x->passes = (uint32_t)head[AMBIT__TILES_PASSES];
  r->changed = head[AMBIT__TILES_CHANGED];
  r->rests = !head[x->tiled.round % 3];
  *done = r->rests || r->updates >= PATIENCE * cells;
  if (!*done) return submit(x);
  if (!r->changed && r->border) return AMBIT_OK;
  return ambit__do(&lane->head, copy, x->l->args[r->out].store, x->l->args[r->in].store,
                   &x->tiling->own, NULL);
}

ambit_status ambit__gpu_relax(ambit__gpu_lane *lane, const ambit__command *c)
{
  ambit__relaxation *r = c->relax.relaxation;
  relaxer x = {.device = lane->device,
               .lane = lane,
               .r = r,
               .tiling = &r->map->parts[r->part],
               .fn = c->relax.fn,
               .l = c->relax.launch};

  r->updates = 0;
  r->changed = false;
  r->rests = true;
  if (!x.tiling->n) return AMBIT_OK;
  AMBIT_TRY(ambit__gpu_tiles_finish(lane));
  AMBIT_TRY(prepare(&x, ambit__gpu_rests_of(x.fn)));
  x.tiled = (ambit__gpu_tiled){
      .table = x.rest->table, .links = x.rest->links, .state = x.rest->state, .n = x.tiling->n};
  x.tiled.than[r->out] = x.l->args[r->in].store;
  AMBIT_TRY(submit(&x));
  return ambit__gpu_tiles_leave(lane, look, &x, sizeof x);
}
