/* SPDX-License-Identifier: BSD-3-Clause */
/* tiles.c - runs a function on some tiles of a grid, and finds the cells that changed.
 *
 * The host sends a table of the tiles; a block of threads computes and compares each, as generated
 * by nest/tiles.c; the boxes of differences and the reductions of the tiles come back. All travel
 * through one piece of staging memory: its host side has the table first and the results
 * afterwards.
 */
#include "base/memory.h"
#include "device/gpu/gpu.h"
#include "plan/gpu.h"

#include <stdlib.h>
#include <string.h>

/* ---- unfinished work ---- */

ambit_status ambit__gpu_tiles_leave(ambit__gpu_lane *lane,
                                    ambit_status (*go)(ambit__gpu_lane *lane, bool *done),
                                    const void *state, size_t bytes)
{
  lane->unfinished = ambit__new(lane->head.device->errors, 1, bytes);
  if (!lane->unfinished) return AMBIT_ENOMEM;
  memcpy(lane->unfinished, state, bytes);
  lane->go = go;
  return AMBIT_OK;
}

static ambit_status go_on(ambit__gpu_lane *lane, bool *done)
{
  ambit_status s = AMBIT_OK;

  *done = true;
  if (lane->go) s = lane->go(lane, done);
  if (!s && !*done) return AMBIT_OK;
  *done = true;
  free(lane->unfinished);
  lane->unfinished = NULL;
  lane->go = NULL;
  return s;
}

ambit_status ambit__gpu_tile_go(ambit__gpu_lane *lane, const ambit__command *c)
{
  return go_on(lane, c->tile_go.done);
}

ambit_status ambit__gpu_tiles_finish(ambit__gpu_lane *lane)
{
  bool done;

  do
    AMBIT_TRY(go_on(lane, &done));
  while (!done);
  return AMBIT_OK;
}

/* ---- calls ---- */

/* A call of the entry, and the tiles of its last launch, whose results are still to be fetched. */
typedef struct job {
  ambit__gpu_lane *lane;
  ambit__function *fn;
  const ambit__group *group;
  const ambit__launch *l;
  const ambit__tile_list *list;
  const int64_t *first;         /* cell of the part, global */
  int output[AMBIT_MAX_PARAMS]; /* by output of the list: its number in the kernel */
  ambit__gpu_tiled tiled;
  const ambit__tile *tiles;
  int64_t n;
} job;

/* ---- reductions ---- */

static bool is_reduction(const ambit__group *g, int param)
{
  return g->rule->params[param].kind == PARAM_REDUCE;
}

/* Bytes of the partial result of a block. */
static size_t partial_bytes(const ambit__group *g, int param)
{
  const ambit__param *p = &g->rule->params[param];

  return p->reduce == REDUCE_SUM ? sizeof(int64_t) : ambit_type_size(p->type);
}

/* The partial results of some tiles, in the lane's memory. */
static ambit_status send_partials(ambit__gpu_lane *lane, const ambit__group *g,
                                  const int64_t *partials, int words, int64_t n)
{
  const ambit__gpu_driver *driver = lane->driver;

  for (int i = 0, word = 0; i < g->rule->nparams; i++) {
    const size_t bytes = is_reduction(g, i) ? partial_bytes(g, i) : 0;
    ambit__gpu_staging *staging;

    if (!bytes) continue;
    AMBIT_TRY(ambit__gpu_staging_take(lane, false, &staging));
    for (int64_t k = 0; k < n; k++)
      memcpy(staging->host + (size_t)k * bytes, &partials[k * words + word], bytes);
    AMBIT_TRY(driver->copy_in(lane->queue, lane->partials[i], 0, staging->host, (size_t)n * bytes));
    AMBIT_TRY(ambit__gpu_staging_pass(lane, staging));
    word++;
  }
  return AMBIT_OK;
}

ambit_status ambit__gpu_tile_fold(ambit__gpu_lane *lane, const ambit__command *c)
{
  ambit__function *fn = c->tile_fold.fn;
  const int64_t n = c->tile_fold.n;
  ambit__launch part = *c->tile_fold.launch;

  for (int64_t first = 0, some; first < n; first += some) {
    some = n - first < AMBIT__GPUCODE_PARTIALS ? n - first : AMBIT__GPUCODE_PARTIALS;
    AMBIT_TRY(send_partials(lane, ambit__gpu_group_of(fn),
                            c->tile_fold.partials + first * fn->words, fn->words, some));
    AMBIT_TRY(ambit__gpu_fold_tiled(lane, fn, &part, some));
    part.more = true;
  }
  return AMBIT_OK;
}

/* ---- the table ---- */

static void put_box(const job *j, const ambit__box *box, int64_t *row)
{
  for (int d = 0; d < j->group->ndims; d++) {
    row[d] = box->lo[d] - j->first[d];
    row[j->group->ndims + d] = box->hi[d] - j->first[d];
  }
}

static void put_tile(const job *j, const ambit__tile *t, int64_t *row)
{
  const int n = j->group->ndims;
  int64_t compares = 0;

  for (int k = 0; k < j->list->nout; k++)
    if (t->compares >> k & 1) compares |= (int64_t)1 << j->output[k];
  put_box(j, &t->whole, row);
  put_box(j, &t->box, row + 2 * n);
  row[4 * n] = t->copies     ? AMBIT__TILES_MODE_COPY
               : t->computed ? AMBIT__TILES_MODE_COMPARE
                             : AMBIT__TILES_MODE_RUN;
  row[4 * n + 1] = compares;
}

/* ---- results ---- */

/* The box of differences of an output, from four-byte words relative to the tile. */
static ambit__box box_found(const ambit__tile *t, const int32_t *found)
{
  ambit__box b = t->whole;

  for (int d = 0; d < b.ndims; d++) {
    const bool any = found[2 * d + 1] >= 0;

    b.lo[d] = any ? t->whole.lo[d] + found[2 * d] : t->whole.hi[d];
    b.hi[d] = any ? t->whole.lo[d] + found[2 * d + 1] + 1 : t->whole.lo[d];
  }
  return b;
}

static void note_found(const job *j, const ambit__tile *t, const int32_t *found)
{
  for (int k = 0; k < j->list->nout && !t->copies; k++)
    t->changed[k] =
        t->compares >> k & 1 ? box_found(t, found + 2 * j->group->ndims * j->output[k]) : t->whole;
}

/* ---- launches ---- */

static size_t found_bytes(const job *j, int64_t n)
{
  return ((size_t)n * (size_t)ambit__tiles_found(j->group) * sizeof(int32_t) + 7) / 8 * 8;
}

/* Tiles of a launch: as many as the memories have room for. */
static int64_t most_tiles(const job *j)
{
  const int words = ambit__tiles_words(j->group);
  const int found = (ambit__tiles_found(j->group) + 1) / 2 + j->fn->words;
  const int64_t n =
      (int64_t)(AMBIT__STAGE_BYTES / sizeof(int64_t)) / (words > found ? words : found) - 1;

  return n < AMBIT__GPUCODE_PARTIALS ? n : AMBIT__GPUCODE_PARTIALS;
}

/* Brings back what was found about n tiles, and their reductions behind it. */
static ambit_status fetch(const job *j, ambit__gpu_staging **where, int64_t n)
{
  const ambit__gpu_driver *driver = j->lane->driver;
  size_t at = found_bytes(j, n);
  ambit__gpu_staging *staging;

  AMBIT_TRY(ambit__gpu_staging_take(j->lane, false, &staging));
  *where = staging;
  if (at) AMBIT_TRY(driver->copy_out(j->lane->queue, staging->host, j->lane->found, 0, at));
  for (int i = 0; i < j->group->rule->nparams; i++) {
    if (!is_reduction(j->group, i)) continue;
    AMBIT_TRY(driver->copy_out(j->lane->queue, staging->host + at, j->lane->partials[i], 0,
                               (size_t)n * partial_bytes(j->group, i)));
    at += (size_t)n * sizeof(int64_t);
  }
  AMBIT_TRY(ambit__gpu_staging_pass(j->lane, staging));
  return driver->event_sync(staging->done);
}

static void take_results(const job *j, const unsigned char *host, const ambit__tile *tiles,
                         int64_t n)
{
  const int words = ambit__tiles_found(j->group);
  const unsigned char *from = host + found_bytes(j, n);

  for (int64_t k = 0; k < n; k++)
    note_found(j, &tiles[k], (const int32_t *)(const void *)host + k * words);
  for (int i = 0, word = 0; i < j->group->rule->nparams; i++) {
    const size_t bytes = is_reduction(j->group, i) ? partial_bytes(j->group, i) : 0;

    if (!bytes) continue;
    for (int64_t k = 0; k < n; k++)
      if (!tiles[k].copies) memcpy(&tiles[k].partial[word], from + (size_t)k * bytes, bytes);
    from += (size_t)n * sizeof(int64_t);
    word++;
  }
}

/* Submits n tiles. */
static ambit_status run_some(job *j, const ambit__tile *tiles, int64_t n)
{
  const ambit__gpu_driver *driver = j->lane->driver;
  const int words = ambit__tiles_words(j->group);
  ambit__gpu_staging *staging;

  AMBIT_TRY(ambit__gpu_staging_take(j->lane, true, &staging));
  for (int64_t i = 0; i < n; i++)
    put_tile(j, &tiles[i], (int64_t *)(void *)staging->host + i * words);
  AMBIT_TRY(driver->copy_in(j->lane->queue, staging->device, 0, staging->host,
                            (size_t)(n * words) * sizeof(int64_t)));
  j->tiled.table = staging->device;
  j->tiled.found = j->lane->found;
  AMBIT_TRY(ambit__gpu_run_tiled(j->lane, j->fn, j->l, &j->tiled, n));
  AMBIT_TRY(ambit__gpu_staging_pass(j->lane, staging));
  j->tiles = tiles;
  j->n = n;
  return AMBIT_OK;
}

/* Takes the results of the tiles submitted last. */
static ambit_status take_some(const job *j)
{
  ambit__gpu_staging *staging;

  AMBIT_TRY(fetch(j, &staging, j->n));
  take_results(j, staging->host, j->tiles, j->n);
  return AMBIT_OK;
}

static ambit_status finish(ambit__gpu_lane *lane, bool *done)
{
  *done = true;
  return take_some(lane->unfinished);
}

/* Finds the outputs of the list among those of the kernel: all fields that the rule writes. */
static void find_outputs(job *j)
{
  const ambit__group *s = j->group;

  for (int i = 0, n = 0; i < s->rule->nparams; i++) {
    if (!s->bind[i].is_field || !s->rule->params[i].is_written) continue;
    for (int k = 0; k < j->list->nout; k++)
      if (j->list->out[k] == i) {
        j->output[k] = n;
        j->tiled.than[i] = j->list->than[k];
      }
    n++;
  }
}

ambit_status ambit__gpu_tiles(ambit__gpu_lane *lane, const ambit__command *c)
{
  static const int64_t origin[AMBIT_MAX_DIMS];
  const ambit__launch *l = c->tiles.launch;
  const ambit__tile_list *list = c->tiles.list;
  job j = {.lane = lane,
           .fn = c->tiles.fn,
           .group = ambit__gpu_group_of(c->tiles.fn),
           .l = l,
           .list = list,
           .first = origin};

  for (int i = 0; i < l->nargs; i++)
    if (l->args[i].store) j.first = l->args[i].store->layout.own.lo;
  if (!lane->found)
    AMBIT_TRY(lane->driver->alloc(lane->device->gpu, AMBIT__STAGE_BYTES, &lane->found));
  find_outputs(&j);
  AMBIT_TRY(ambit__gpu_tiles_finish(lane));
  for (int64_t i = 0; i < list->n; i += j.n) {
    const int64_t left = list->n - i;

    if (i) AMBIT_TRY(take_some(&j));
    AMBIT_TRY(run_some(&j, list->tiles + i, left < most_tiles(&j) ? left : most_tiles(&j)));
  }
  return list->n ? ambit__gpu_tiles_leave(lane, finish, &j, sizeof j) : AMBIT_OK;
}
