/* SPDX-License-Identifier: BSD-3-Clause */
/* tiles.c - runs a function on some tiles of a grid, and finds the cells that changed.
 *
 * Threads take tiles in turn. A tile is compared while it is in the cache, with the values of
 * another field, or with a copy of those that it overwrites. The comparison looks for a box that
 * contains all differences. It ends as soon as that is the whole tile: where all cells change, it
 * costs next to nothing.
 */
#include "device/cpu/cpu.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- values in memory ---- */

/* The cells of a box: where they are, in bytes. */
typedef struct view {
  unsigned char *base;         /* the first cell; on a sparse grid, position 0 */
  const ambit__active *active; /* of a sparse grid: where its runs are; NULL: every cell is there */
  int64_t stride[AMBIT_MAX_DIMS]; /* to the next cell of an axis */
  int64_t component;              /* to the next run of components */
  int components;                 /* runs of components */
  int64_t cell;                   /* bytes of a cell in a run: all components, or one */
  ambit_type type;
} view;

/* A row of cells of a box; on a sparse grid, those of a run. */
typedef struct line {
  ambit__box cells;
  int64_t next; /* on a sparse grid: the run behind it */
} line;

static view view_of(const ambit__store *store, const ambit__box *box)
{
  const ambit__layout *l = &store->layout;
  const int64_t size = (int64_t)ambit_type_size(l->type);
  const bool runs = l->order == AMBIT_AOS; /* all components of a cell are one run */
  const int64_t first = l->active ? l->origin : ambit__layout_at(l, box->lo);
  view v = {.base = ambit__host_base(store->buffer) + first * size,
            .active = l->active,
            .component = l->component * size,
            .components = runs ? 1 : l->components,
            .cell = runs ? size * l->components : size,
            .type = l->type};

  for (int d = 0; d < box->ndims; d++)
    v.stride[d] = l->stride[d] * size;
  return v;
}

/* A dense copy of the same cells. */
static view view_dense(const view *like, const ambit__box *box, unsigned char *memory)
{
  view v = *like;
  int64_t step = v.cell;

  v.base = memory;
  v.active = NULL;
  for (int d = box->ndims - 1; d >= 0; d--) {
    v.stride[d] = step;
    step *= box->hi[d] - box->lo[d];
  }
  v.component = step;
  return v;
}

static size_t dense_bytes(const view *v, const ambit__box *box)
{
  return (size_t)(ambit__box_volume(box) * v->cell * v->components);
}

/* The first line of a box, or the next one; false: there is none. */
static bool next_line(const view *v, const ambit__box *box, line *l)
{
  const int last = box->ndims - 1;
  const bool begins = !l->cells.ndims;

  if (v->active) {
    l->cells.ndims = box->ndims;
    return ambit__active_next(v->active, box, &l->next, &l->cells);
  }
  if (begins) l->cells = *box;
  if (!begins && !ambit__box_next_row(box, l->cells.lo)) return false;
  for (int d = 0; d < last; d++)
    l->cells.hi[d] = l->cells.lo[d] + 1;
  return true;
}

static unsigned char *line_of(const view *v, const ambit__box *box, const line *l, int run)
{
  const int last = box->ndims - 1;
  unsigned char *p = v->base + run * v->component;

  if (v->active) {
    const ambit__run *r = &v->active->runs[l->next - 1];

    return p + (r->at + l->cells.lo[last] - r->lo) * v->stride[last];
  }
  for (int d = 0; d < box->ndims; d++)
    p += (l->cells.lo[d] - box->lo[d]) * v->stride[d];
  return p;
}

static int64_t line_bytes(const view *v, const line *l)
{
  const int last = l->cells.ndims - 1;

  return (l->cells.hi[last] - l->cells.lo[last]) * v->cell;
}

/* The one of two views whose lines are those of both. */
static const view *either(const view *a, const view *b)
{
  return a->active ? a : b;
}

static void copy(const view *to, const view *from, const ambit__box *box)
{
  line l = {.cells = {.ndims = 0}};

  while (next_line(either(to, from), box, &l))
    for (int run = 0; run < to->components; run++)
      memcpy(line_of(to, box, &l, run), line_of(from, box, &l, run), (size_t)line_bytes(to, &l));
}

/* ---- comparison ---- */

/* Differences found so far. */
typedef struct search {
  const view *a, *b;
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
  const int64_t cell = s->a->cell, begin = l->cells.lo[last], n = l->cells.hi[last] - begin;
  const int64_t below = limit(s->found.lo[last] - begin, 0, n);
  const int64_t lo = first_difference(p, q, below * cell) / cell;
  const int64_t known = limit(s->found.hi[last] - begin, lo, n);
  const int64_t hi = (last_difference(p, q, known * cell, n * cell) + cell - 1) / cell;

  if (lo < below) s->found.lo[last] = begin + lo;
  if (hi > known) s->found.hi[last] = begin + hi;
}

static void search_line(search *s, const line *l, int run)
{
  const int last = s->box->ndims - 1;
  const unsigned char *p = line_of(s->a, s->box, l, run), *q = line_of(s->b, s->box, l, run);

  if (ambit__values_same(p, q, (size_t)line_bytes(s->a, l) / ambit_type_size(s->a->type),
                         s->a->type))
    return;
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

/* A box that contains all cells in which two views differ. On dense grids the first and the last
 * row come first: where all cells change, no other is looked at. */
static ambit__box differences(const view *a, const view *b, const ambit__box *box)
{
  const view *lines = either(a, b);
  search s = {a, b, box, *box};

  for (int d = 0; d < box->ndims; d++) {
    s.found.lo[d] = box->hi[d];
    s.found.hi[d] = box->lo[d];
  }
  for (int run = 0; run < a->components && !ambit__box_equal(&s.found, box); run++) {
    const line end = last_line(box);
    line l = {.cells = {.ndims = 0}};

    if (!lines->active) search_line(&s, &end, run);
    while (!ambit__box_equal(&s.found, box) && next_line(lines, box, &l))
      search_line(&s, &l, run);
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
static view kept_view(const job *j, const ambit__tile *t, int k, int thread)
{
  unsigned char *memory = j->device->kept + (size_t)thread * j->device->kept_bytes;
  view v = {0};

  for (int i = 0; i <= k; i++) {
    if (!is_lost(j, i)) continue;
    v = view_of(j->list->than[i], compared(j, t, i));
    v = view_dense(&v, compared(j, t, i), memory);
    memory += dense_bytes(&v, compared(j, t, i));
  }
  return v;
}

static void keep(const job *j, const ambit__tile *t, int thread)
{
  for (int k = 0; k < j->list->nout; k++)
    if ((t->compares >> k & 1) && is_lost(j, k)) {
      const ambit__box *cells = compared(j, t, k);
      const view to = kept_view(j, t, k, thread), from = view_of(j->list->than[k], cells);

      copy(&to, &from, cells);
    }
}

static void copy_outputs(const job *j, const ambit__tile *t)
{
  for (int k = 0; k < j->list->nout; k++) {
    const view to = view_of(output(j, k), &t->whole);
    const view from = view_of(j->list->than[k], &t->whole);

    if (to.base != from.base) copy(&to, &from, &t->whole);
  }
}

static void compare(const job *j, const ambit__tile *t, int thread)
{
  const bool writes = !ambit__box_is_empty(&t->box);

  for (int k = 0; k < j->list->nout; k++)
    if (t->compares >> k & 1) {
      const ambit__box *cells = compared(j, t, k); /* in place, the box is not empty */
      const view now = view_of(output(j, k), cells);
      const view before =
          is_lost(j, k) && writes ? kept_view(j, t, k, thread) : view_of(j->list->than[k], cells);

      t->changed[k] = differences(&now, &before, cells);
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
  ambit__pool_run(j.device->pool,
                  ambit__cpu_threads_for(j.device, ambit__cpu_cell_ns(j.fn) * (double)cells),
                  take_tiles, &j);
  return AMBIT_OK;
}
