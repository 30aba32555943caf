/* SPDX-License-Identifier: BSD-3-Clause */
/* relax.c - brings a part to rest: the tiles with the least values first, in rounds.
 *
 * A monotone rule gives the same values at rest in any order, but not with the same work. If every
 * awake tile came to rest at once, most would do so with values that better ones soon replace.
 * Therefore the tiles whose news is the least (see ambit__relax_task) go first, as in Dijkstra's
 * algorithm: a fifth of the updates for shortest ways over a terrain. The tiles of a round do not
 * read each other: threads need no locks, and a run can be repeated.
 */
#include "device/cpu/relax.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum {
  TASKS = 8,    /* most tiles of a round, per thread */
  SHARE = 64,   /* of the tiles of a part, one in so many: more would disturb the order */
  PATIENCE = 64 /* updates per cell before a part is given up for this iteration */
};

/* An awake tile. An entry whose lead is not that of its tile any more is void. */
typedef struct entry {
  double lead;
  int64_t tile;
} entry;

typedef struct relaxer {
  ambit__errors *errors;
  ambit__cpu *device;
  ambit__relaxation *r;
  const ambit__tiling *tiling;
  ambit__relax_job job;
  ambit__arena memory;      /* of all arrays but the heap's */
  ambit__relax_room *rooms; /* by thread */
  uint64_t *awake;          /* by tile of the part: its blocks, one bit each */
  double *lead;             /* by tile of the part: the least that woke it */
  int64_t *taken;           /* by tile of the part: the last round that must not take it */
  entry *heap, *aside;      /* least lead first; passed over in a round; owned */
  size_t nheap, heap_cap, naside, aside_cap;
  ambit__relax_task *tasks; /* of a round */
  int ntasks, most;
  int64_t round;
} relaxer;

/* ---- the heap ---- */

static bool is_before(const entry *a, const entry *b)
{
  return a->lead < b->lead || (a->lead <= b->lead && a->tile < b->tile);
}

static ambit_status push(relaxer *x, entry e)
{
  size_t i = x->nheap;

  AMBIT_TRY(ambit__make_room(x->errors, &x->heap, x->nheap, &x->heap_cap, sizeof *x->heap));
  x->nheap++;
  for (; i && is_before(&e, &x->heap[(i - 1) / 2]); i = (i - 1) / 2)
    x->heap[i] = x->heap[(i - 1) / 2];
  x->heap[i] = e;
  return AMBIT_OK;
}

static entry pop(relaxer *x)
{
  entry *h = x->heap;
  const entry top = h[0], e = h[--x->nheap];
  size_t i = 0;

  for (size_t k; (k = 2 * i + 1) < x->nheap; i = k) {
    if (k + 1 < x->nheap && is_before(&h[k + 1], &h[k])) k++;
    if (!is_before(&h[k], &e)) break;
    h[i] = h[k];
  }
  h[i] = e;
  return top;
}

/* ---- waking ---- */

static ambit_status wake(relaxer *x, int64_t tile, uint64_t blocks, double lead)
{
  const int64_t i = tile - x->tiling->first;
  const bool sooner = !x->awake[i] || lead < x->lead[i];

  x->awake[i] |= blocks;
  if (!blocks || !sooner) return AMBIT_OK;
  x->lead[i] = lead;
  return push(x, (entry){lead, tile});
}

/* All blocks, or those that read halos or ghost cells. */
static ambit_status wake_first(relaxer *x)
{
  ambit__box inner = x->tiling->own;

  for (int d = 0; d < inner.ndims; d++) {
    inner.lo[d] += x->job.map->reach[d];
    inner.hi[d] -= x->job.map->reach[d];
  }
  for (int64_t t = x->tiling->first; t < x->tiling->first + x->tiling->n; t++) {
    const ambit__box tile = ambit__tile_box(x->job.map, t);
    ambit__box rest[2 * AMBIT_MAX_DIMS];
    const ambit__box middle = ambit__box_intersect(&tile, &inner);
    const int n = x->r->border ? ambit__box_split(&tile, &middle, rest) : 0;
    uint64_t blocks = x->r->border ? 0 : ambit__relax_mask(&x->job, &tile, &tile);

    for (int i = 0; i < n; i++)
      blocks |= ambit__relax_mask(&x->job, &tile, &rest[i]);
    AMBIT_TRY(wake(x, t, blocks, (double)INFINITY));
  }
  return AMBIT_OK;
}

static bool is_here(const relaxer *x, int64_t tile)
{
  return x->job.map->part[tile] == x->r->part;
}

/* Wakes the tiles that read changed zones of a tile, and the tile itself if it was given up. */
static ambit_status wake_readers(relaxer *x, const ambit__relax_task *t)
{
  const ambit__tile_map *map = x->job.map;
  const ambit__box box = ambit__tile_box(map, t->tile);

  AMBIT_TRY(wake(x, t->tile, t->awake, (double)INFINITY));
  for (int64_t i = map->feeds.first[t->tile]; i < map->feeds.first[t->tile + 1]; i++) {
    const ambit__tile_link *l = &map->feeds.list[i];
    ambit__box tile, cells;

    if (!(t->changed >> l->zone & 1) || !is_here(x, l->tile)) continue;
    tile = ambit__tile_box(map, l->tile);
    cells = ambit__tile_readers(map, &tile, l->zone, &box);
    AMBIT_TRY(wake(x, l->tile, ambit__relax_mask(&x->job, &tile, &cells), t->lead[l->zone]));
  }
  return AMBIT_OK;
}

/* ---- rounds ---- */

static void take_around(relaxer *x, const ambit__tile_links *links, int64_t tile)
{
  for (int64_t i = links->first[tile]; i < links->first[tile + 1]; i++)
    if (is_here(x, links->list[i].tile))
      x->taken[links->list[i].tile - x->tiling->first] = x->round;
}

static void take(relaxer *x, int64_t tile)
{
  const int64_t i = tile - x->tiling->first;

  x->tasks[x->ntasks++] = (ambit__relax_task){.tile = tile, .awake = x->awake[i]};
  x->awake[i] = 0;
  x->taken[i] = x->round;
  take_around(x, &x->job.map->reads, tile);
  take_around(x, &x->job.map->feeds, tile);
}

/* Takes the first tiles that do not read each other. */
static ambit_status choose(relaxer *x)
{
  x->round++;
  x->ntasks = 0;
  x->naside = 0;
  while (x->nheap && x->ntasks < x->most && x->naside < 8 * (size_t)x->most) {
    const entry e = pop(x);
    const int64_t i = e.tile - x->tiling->first;

    if (!x->awake[i] || e.lead > x->lead[i]) continue;
    if (x->taken[i] < x->round) {
      take(x, e.tile);
      continue;
    }
    AMBIT_TRY(ambit__make_room(x->errors, &x->aside, x->naside, &x->aside_cap, sizeof *x->aside));
    x->aside[x->naside++] = e;
  }
  for (size_t i = 0; i < x->naside; i++)
    AMBIT_TRY(push(x, x->aside[i]));
  return AMBIT_OK;
}

static void run_tasks(void *user, int thread, int threads)
{
  relaxer *x = user;
  int i;

  (void)threads;
  while ((i = atomic_fetch_add_explicit(&x->device->shares[0].next, 1, memory_order_relaxed)) <
         x->ntasks)
    ambit__relax_run(&x->job, &x->rooms[thread], &x->tasks[i]);
}

static ambit_status run_round(relaxer *x)
{
  AMBIT_TRY(choose(x));
  atomic_store_explicit(&x->device->shares[0].next, 0, memory_order_relaxed);
  ambit__pool_run(x->device->pool, x->ntasks, run_tasks, x);
  for (int i = 0; i < x->ntasks; i++) {
    x->r->changed |= x->tasks[i].changed != 0;
    x->r->updates += (double)x->tasks[i].updates;
    AMBIT_TRY(wake_readers(x, &x->tasks[i]));
  }
  return AMBIT_OK;
}

/* ---- the part ---- */

static ambit_status make(relaxer *x)
{
  const size_t n = (size_t)x->tiling->n, threads = (size_t)ambit__pool_threads(x->device->pool);
  const size_t bytes = (ambit__relax_blocks(&x->job) + 63) / 64 * 64;
  unsigned char *marks;

  x->most = TASKS * (int)threads;
  if (x->tiling->n / SHARE < x->most) x->most = (int)(x->tiling->n / SHARE);
  if (x->most < (int)threads) x->most = (int)threads;
  AMBIT_TAKE(x->errors, &x->memory, x->awake, n);
  AMBIT_TAKE(x->errors, &x->memory, x->lead, n);
  AMBIT_TAKE(x->errors, &x->memory, x->taken, n);
  AMBIT_TAKE(x->errors, &x->memory, x->tasks, (size_t)x->most);
  AMBIT_TAKE(x->errors, &x->memory, x->rooms, threads);
  AMBIT_TAKE(x->errors, &x->memory, marks, threads * bytes);
  for (size_t i = 0; i < threads; i++)
    x->rooms[i] = (ambit__relax_room){x->job.call, marks + i * bytes};
  return AMBIT_OK;
}

static ambit_status relax(relaxer *x)
{
  AMBIT_TRY(make(x));
  AMBIT_TRY(wake_first(x));
  while (x->nheap && x->r->updates < PATIENCE * (double)ambit__box_volume(&x->tiling->own))
    AMBIT_TRY(run_round(x));
  x->r->rests = !x->nheap;
  return AMBIT_OK;
}

ambit_status ambit__cpu_relax(ambit__queue *q, const ambit__command *c)
{
  const ambit__launch *l = c->relax.launch;
  ambit__relaxation *r = c->relax.relaxation;
  relaxer x = {.errors = q->device->errors,
               .device = (ambit__cpu *)q->device,
               .r = r,
               .tiling = &r->map->parts[r->part],
               .job = {.fn = c->relax.fn,
                       .map = r->map,
                       .out = r->out,
                       .values = l->args[r->in].store,
                       .before = l->args[r->out].store}};
  ambit_status s;

  r->changed = false;
  r->updates = 0;
  if (!r->border)
    AMBIT_TRY(ambit__host_do(q, copy, x.job.before, x.job.values, &x.tiling->own, NULL));
  ambit__cpu_fill_call(l->args, l->nargs, l->extents, l->box.ndims, &x.job.call.call);
  x.job.call.call.step = l->step;
  s = relax(&x);
  ambit__arena_free(&x.memory);
  free(x.heap);
  free(x.aside);
  return s;
}
