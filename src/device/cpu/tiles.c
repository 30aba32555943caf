/* SPDX-License-Identifier: BSD-3-Clause */
/* tiles.c - runs a function on some tiles of a grid, and finds the cells that changed.
 *
 * Threads take tiles in turn. A tile is compared while it is in the cache, with the values of
 * another field, or with a copy of those that it overwrites. The comparison looks for a box that
 * contains all differences. It ends as soon as that is the whole tile: where all cells change, it
 * costs next to nothing.
 */
#include "device/cpu/function.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- values in memory ---- */

/* A dense copy of some cells of a field, in the memory of a thread. Must not move. */
typedef struct kept {
  ambit__store store;
  ambit__host_buffer buffer; /* of the store */
} kept;

/* A row of cells of a box; on a sparse grid, those of a run. */
typedef struct line {
  ambit__box cells;
  int64_t next; /* on a sparse grid: the run behind it */
} line;

/* Components that are apart: all, or 1. */
static int planes(const ambit__layout *l)
{
  return l->order == AMBIT_AOS ? 1 : l->components;
}

/* Bytes of a cell, in one of these. */
static int64_t cell_bytes(const ambit__layout *l)
{
  return (int64_t)ambit_type_size(l->type) * (l->components / planes(l));
}

static void place_copy(const ambit__store *of, const ambit__box *box, unsigned char *memory,
                       kept *k)
{
  ambit__layout *l = &k->store.layout;
  int64_t step = of->layout.components / planes(&of->layout);

  k->buffer = (ambit__host_buffer){.base = memory};
  k->store = (ambit__store){of->layout, &k->buffer.head};
  l->own = *box;
  l->active = NULL;
  l->origin = 0;
  for (int d = box->ndims - 1; d >= 0; d--) {
    l->stride[d] = step;
    step *= box->hi[d] - box->lo[d];
  }
  if (l->order != AMBIT_AOS) l->component = step;
}

/* Of two stores, where the runs of the one on a sparse grid are; NULL: every cell is there. */
static const ambit__active *runs_of(const ambit__store *a, const ambit__store *b)
{
  return a->layout.active ? a->layout.active : b->layout.active;
}

/* The first line of a box, or the next one; false: there is none. */
static bool next_line(const ambit__active *runs, const ambit__box *box, line *l)
{
  const int last = box->ndims - 1;
  const bool begins = !l->cells.ndims;

  if (runs) {
    l->cells.ndims = box->ndims;
    return ambit__active_next(runs, box, &l->next, &l->cells);
  }
  if (begins) l->cells = *box;
  if (!begins && !ambit__box_next_row(box, l->cells.lo)) return false;
  for (int d = 0; d < last; d++)
    l->cells.hi[d] = l->cells.lo[d] + 1;
  return true;
}

static size_t line_bytes(const ambit__store *s, const line *l)
{
  const int last = l->cells.ndims - 1;

  return (size_t)((l->cells.hi[last] - l->cells.lo[last]) * cell_bytes(&s->layout));
}

static void copy(const ambit__store *to, const ambit__store *from, const ambit__box *box)
{
  line l = {.cells = {.ndims = 0}};

  while (next_line(runs_of(to, from), box, &l))
    for (int c = 0; c < planes(&to->layout); c++)
      memcpy(ambit__host_at(to, l.cells.lo, c), ambit__host_at(from, l.cells.lo, c),
             line_bytes(to, &l));
}

/* ---- comparison ---- */

/* Differences found so far. */
typedef struct search {
  const ambit__store *a, *b;
  const ambit__box *box;
  ambit__box found; /* contains them all; empty along the first axis: there are none */
} search;

/* The first of n bytes that differs; n: none does. */
static int64_t first_difference(const unsigned char *p, const unsigned char *q, int64_t n)
{
  int64_t i = 0;

  for (uint64_t x, y; i + (int64_t)sizeof x <= n; i += (int64_t)sizeof x) {
    memcpy(&x, p + i, sizeof x);
    memcpy(&y, q + i, sizeof y);
    if (x != y) break;
  }
  while (i < n && p[i] == q[i])
    i++;
  return i;
}

/* One past the last of the bytes first .. n - 1 that differs; first: none does. */
static int64_t last_difference(const unsigned char *p, const unsigned char *q, int64_t first,
                               int64_t n)
{
  for (uint64_t x, y; n - (int64_t)sizeof x >= first; n -= (int64_t)sizeof x) {
    memcpy(&x, p + n - sizeof x, sizeof x);
    memcpy(&y, q + n - sizeof y, sizeof y);
    if (x != y) break;
  }
  while (n > first && p[n - 1] == q[n - 1])
    n--;
  return n;
}

static int64_t limit(int64_t x, int64_t lo, int64_t hi)
{
  return x < lo ? lo : x > hi ? hi : x;
}

/* Extends `found` along the last axis by the differences of two lines. */
static void search_ends(search *s, const line *l, const unsigned char *p, const unsigned char *q)
{
  const int last = s->box->ndims - 1;
  const int64_t cell = cell_bytes(&s->a->layout), begin = l->cells.lo[last],
                n = l->cells.hi[last] - begin;
  const int64_t below = limit(s->found.lo[last] - begin, 0, n);
  const int64_t lo = first_difference(p, q, below * cell) / cell;
  const int64_t known = limit(s->found.hi[last] - begin, lo, n);
  const int64_t hi = (last_difference(p, q, known * cell, n * cell) + cell - 1) / cell;

  if (lo < below) s->found.lo[last] = begin + lo;
  if (hi > known) s->found.hi[last] = begin + hi;
}

static void search_line(search *s, const line *l, int component)
{
  const int last = s->box->ndims - 1;
  const ambit_type type = s->a->layout.type;
  const unsigned char *p = ambit__host_at(s->a, l->cells.lo, component);
  const unsigned char *q = ambit__host_at(s->b, l->cells.lo, component);

  if (ambit__values_same(p, q, line_bytes(s->a, l) / ambit_type_size(type), type)) return;
  for (int d = 0; d < last; d++) {
    if (l->cells.lo[d] < s->found.lo[d]) s->found.lo[d] = l->cells.lo[d];
    if (l->cells.hi[d] > s->found.hi[d]) s->found.hi[d] = l->cells.hi[d];
  }
  search_ends(s, l, p, q);
}

/* The last row, of a dense grid. */
static line last_line(const ambit__box *box)
{
  line l = {.cells = *box};

  for (int d = 0; d < box->ndims - 1; d++)
    l.cells.lo[d] = box->hi[d] - 1;
  return l;
}

/* A box that contains all cells in which two stores differ. On dense grids the first and the last
 * row come first: where all cells change, no other is looked at. */
static ambit__box differences(const ambit__store *a, const ambit__store *b, const ambit__box *box)
{
  const ambit__active *runs = runs_of(a, b);
  search s = {a, b, box, *box};

  for (int d = 0; d < box->ndims; d++) {
    s.found.lo[d] = box->hi[d];
    s.found.hi[d] = box->lo[d];
  }
  for (int c = 0; c < planes(&a->layout) && !ambit__box_equal(&s.found, box); c++) {
    const line end = last_line(box);
    line l = {.cells = {.ndims = 0}};

    if (!runs) search_line(&s, &end, c);
    while (!ambit__box_equal(&s.found, box) && next_line(runs, box, &l))
      search_line(&s, &l, c);
  }
  return s.found;
}

/* ---- tiles ---- */

typedef struct job {
  ambit__cpu *device;
  const ambit__function *fn;
  const ambit__launch *l;
  const ambit__tile_list *list;
  ambit_full_call call; /* complete except for the box */
} job;

static const ambit__store *output(const job *j, int k)
{
  return j->l->args[j->list->out[k]].store;
}

/* Whether the values to compare output k with are overwritten by the launch. */
static bool is_lost(const job *j, int k)
{
  for (int i = 0; i < j->list->nout; i++)
    if (j->list->than[k] == output(j, i)) return true;
  return false;
}

/* The cells of output k that are compared. In place only those of the box can change. */
static const ambit__box *compared(const job *j, const ambit__tile *t, int k)
{
  return j->list->than[k] == output(j, k) ? &t->box : &t->whole;
}

/* The values to compare output k of a tile with, in the memory of a thread. */
static void find_kept(const job *j, const ambit__tile *t, int k, int thread, kept *to)
{
  unsigned char *memory = j->device->kept + (size_t)thread * j->device->kept_bytes;

  for (int i = 0; i < k; i++)
    if (is_lost(j, i))
      memory += ambit__layout_box_bytes(&j->list->than[i]->layout, compared(j, t, i));
  place_copy(j->list->than[k], compared(j, t, k), memory, to);
}

static void keep(const job *j, const ambit__tile *t, int thread)
{
  for (int k = 0; k < j->list->nout; k++)
    if ((t->compares >> k & 1) && is_lost(j, k)) {
      kept to;

      find_kept(j, t, k, thread, &to);
      copy(&to.store, j->list->than[k], compared(j, t, k));
    }
}

static void copy_outputs(const job *j, const ambit__tile *t)
{
  for (int k = 0; k < j->list->nout; k++)
    if (output(j, k)->buffer != j->list->than[k]->buffer)
      copy(output(j, k), j->list->than[k], &t->whole);
}

static void compare(const job *j, const ambit__tile *t, int thread)
{
  const bool writes = !ambit__box_is_empty(&t->box);

  for (int k = 0; k < j->list->nout; k++)
    if (t->compares >> k & 1) {
      const ambit__store *before = j->list->than[k];
      kept copy_of;

      if (is_lost(j, k) && writes) {
        find_kept(j, t, k, thread, &copy_of);
        before = &copy_of.store;
      }
      /* in place, the box is not empty */
      t->changed[k] = differences(output(j, k), before, compared(j, t, k));
    } else {
      t->changed[k] = t->whole;
    }
}

static void run_tile(const job *j, const ambit__tile *t, int thread)
{
  if (t->copies) {
    copy_outputs(j, t);
    return;
  }
  if (!t->computed) {
    if (!ambit__box_is_empty(&t->box)) keep(j, t, thread);
    if (j->l->chunks)
      ambit__cpu_run_chunks(j->fn, &j->call, j->l->chunks, j->l->chunks->starts[t->number],
                            j->l->chunks->starts[t->number + 1], t->partial);
    else
      ambit__cpu_run_box(j->fn, &j->call, &t->box, t->partial);
  }
  compare(j, t, thread);
}

static void take_tiles(void *user, int thread, int threads)
{
  job *j = user;
  int i;

  (void)threads;
  while ((i = atomic_fetch_add_explicit(&j->device->shares[0].next, 1, memory_order_relaxed)) <
         j->list->n)
    run_tile(j, &j->list->tiles[i], thread);
}

/* Memory for the values that tiles overwrite. */
static ambit_status make_room(job *j)
{
  size_t most = 0;

  for (int i = 0; i < j->list->n; i++) {
    const ambit__tile *t = &j->list->tiles[i];
    size_t bytes = 0;

    for (int k = 0; k < j->list->nout && t->compares && !ambit__box_is_empty(&t->box); k++)
      if (is_lost(j, k)) bytes += ambit__layout_box_bytes(&output(j, k)->layout, compared(j, t, k));
    if (bytes > most) most = bytes;
  }
  most = (most + 63) / 64 * 64;
  if (most <= j->device->kept_bytes) return AMBIT_OK;
  free(j->device->kept);
  j->device->kept_bytes = 0;
  j->device->kept =
      ambit__new(j->device->head.errors, (size_t)ambit__pool_most(j->device->pool), most);
  if (!j->device->kept) return AMBIT_ENOMEM;
  j->device->kept_bytes = most;
  return AMBIT_OK;
}

ambit_status ambit__cpu_tiles(ambit__queue *q, const ambit__command *c)
{
  const ambit__launch *l = c->tiles.launch;
  const ambit__tile_list *list = c->tiles.list;
  job j = {.device = (ambit__cpu *)q->device, .fn = c->tiles.fn, .l = l, .list = list};
  const int64_t cells = list->n ? ambit__box_volume(&list->tiles[0].whole) * list->n : 0;

  AMBIT_TRY(make_room(&j));
  if (l->chunks) ambit__cpu_set_bounds(l);
  ambit__cpu_fill_call(l->args, l->nargs, l->extents, l->box.ndims, &j.call.call);
  j.call.call.step = l->step;
  atomic_store_explicit(&j.device->shares[0].next, 0, memory_order_relaxed);
  ambit__pool_run(
      j.device->pool,
      ambit__cpu_threads_for(j.device, ambit__cpu_function_of(j.fn)->cell_ns * (double)cells),
      take_tiles, &j);
  return AMBIT_OK;
}
