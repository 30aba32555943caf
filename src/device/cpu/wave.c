/* SPDX-License-Identifier: BSD-3-Clause */
/* wave.c - several iterations in one pass over the cells, while they are in the cache.
 *
 * Each thread owns a range of the axis and runs its pass alone: block by block, all stages of a
 * block one after the other, each its lag behind. Cells that depend on two owners are left out
 * on both sides of the cut (flow/flow.h). The owner after a cut does these cells, the seam, as soon
 * as the owner before it has finished. Nobody waits for anybody else.
 *
 *          owner 0          owner 1
 *        #############|#############
 *        ############   ############      <- the seam of owner 1 is the triangle between them
 *        ###########     ###########
 *
 * With strips, the stages of a block advance along its rows strip by strip, so that most of what a
 * stage reads was written by the one before it a moment ago, and is in the first-level cache.
 */
#include "device/cpu/function.h"

#include "base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
  ALIGNED = 8,   /* cuts are at multiples of this: see AMBIT__CPU_SLAB_ALIGN */
  MOST_SPANS = 8 /* of one axis: two in the grid, and ghost cells */
};

typedef struct span {
  int64_t lo, hi;
} span;

/* The cells that a stage has at a time, along each axis. */
typedef struct piece {
  int owner;
  int n; /* spans of the wave's axis: 1, or 2 in the seam where the grid wraps */
  span rows[2];
  span columns; /* along the next axis */
  span strip;   /* along the last one */
  bool wraps;   /* that seam */
} piece;

/* The cells, not yet shifted by lags, that all stages of a pass go through: of the next axis, and
 * of the last one. In two dimensions this is one axis, and the strip is a part of the tile. */
typedef struct front {
  span columns, strip;
} front;

typedef struct job {
  const ambit__wave *w;
  ambit__queue *queue;
  const ambit_full_call *calls; /* by stage; complete except for the box */
  ambit__cpu_share *shares;
  ambit__long *waste; /* by owner and parameter: for the results of reductions */
  int64_t *results;   /* the same of stages that keep theirs: by stage, owner and word */
  int owners, words;  /* of each; the most words */
} job;

/* ---- spans ---- */

static span intersect(span a, span b)
{
  return (span){a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

static bool has(span s, int64_t i)
{
  return i >= s.lo && i < s.hi;
}

static span span_of(const ambit__box *b, int axis)
{
  return (span){b->lo[axis], b->hi[axis]};
}

/* The first cell of an owner. */
static int64_t cut(const ambit__wave *w, int owner, int owners)
{
  const int64_t lo = w->all.lo[w->axis], n = w->all.hi[w->axis] - lo, at = n * owner / owners;
  const bool exact = owner == owners || n < owners * w->least + owners * ALIGNED;

  return lo + (exact ? at : at / ALIGNED * ALIGNED);
}

/* ---- stages ---- */

/* The part of a call that a rule of n parameters uses: the whole has 2 KB, and calls are short. */
static void copy_call(ambit_full_call *to, const ambit_full_call *from, int n)
{
  const size_t count = (size_t)n;

  memcpy(&to->call, &from->call, offsetof(ambit_compiled_call, origin));
  memcpy(to->call.origin, from->call.origin, count * sizeof *to->call.origin);
  memcpy(to->call.stride, from->call.stride, count * sizeof *to->call.stride);
  memcpy(to->call.component, from->call.component, count * sizeof *to->call.component);
  to->faults = from->faults;
}

/* The results of an owner in a stage that keeps its reductions. */
static int64_t *results_of(const job *j, int stage, int owner)
{
  return j->results + (int64_t)stage * j->owners * j->words +
         (int64_t)owner * j->w->stages[stage].fn->words;
}

static void compute(const job *j, int stage, const piece *p)
{
  const ambit__wave *w = j->w;
  const ambit__wave_stage *st = &w->stages[stage];
  const int last = st->cells.ndims - 1;
  const ambit__cpu_function *f = ambit__cpu_function_of(st->fn);
  const ambit__rule *rule = f->rule;
  ambit_full_call full;
  ambit_compiled_call *call = &full.call;

  copy_call(&full, &j->calls[stage], rule->nparams);
  if (st->keeps)
    ambit__cpu_point(st->fn, results_of(j, stage, p->owner), false, call);
  else
    for (int i = 0; i < rule->nparams; i++)
      if (rule->params[i].kind == PARAM_REDUCE)
        call->origin[i] = &j->waste[p->owner * AMBIT_MAX_PARAMS + i];

  for (int i = 0; i < p->n; i++) {
    ambit__box box = st->cells;
    const span rows = intersect(p->rows[i], span_of(&box, w->axis));
    const span columns = intersect(p->columns, span_of(&box, w->axis + 1));

    box.lo[w->axis] = rows.lo;
    box.hi[w->axis] = rows.hi;
    box.lo[w->axis + 1] = columns.lo;
    box.hi[w->axis + 1] = columns.hi;
    if (box.lo[last] < p->strip.lo) box.lo[last] = p->strip.lo;
    if (box.hi[last] > p->strip.hi) box.hi[last] = p->strip.hi;
    if (ambit__box_is_empty(&box)) continue;
    for (int d = 0; d < box.ndims; d++) {
      call->lo[d] = box.lo[d] - call->offset[d];
      call->hi[d] = box.hi[d] - call->offset[d];
    }
    f->run(call);
  }
}

/* Appends the spans of an axis that go with cells `s` in the grid: these, and the ghost cells whose
 * turn it is. The flags tell ghost cells. */
static int add_spans(const ambit__wave_stage *st, int64_t extent, int axis, span s, span *spans,
                     bool *ghosts, int n)
{
  s = intersect(s, span_of(&st->cells, axis));
  if (s.lo >= s.hi) return n;
  ghosts[n] = false;
  spans[n++] = s;
  ghosts[n] = true;
  if (st->low[axis] && has(s, st->turn[axis])) spans[n++] = (span){-st->low[axis], 0};
  ghosts[n] = true;
  if (st->high[axis] && has(s, extent - 1)) spans[n++] = (span){extent, extent + st->high[axis]};
  return n;
}

/* The spans of the wave's axis. Periodic ghost cells are filled in the seam where it wraps. */
static int row_spans(const job *j, const ambit__wave_stage *st, const piece *p, span *spans,
                     bool *ghosts)
{
  const int axis = j->w->axis;
  const int64_t extent = j->w->extents[axis];
  const bool periodic = st->args[0].boundaries->kind[axis][0] == AMBIT_PERIODIC;
  int n = 0;

  for (int i = 0; i < p->n; i++)
    if (periodic) {
      spans[n] = intersect(p->rows[i], span_of(&st->cells, axis));
      ghosts[n] = false;
      n += spans[n].lo < spans[n].hi;
    } else {
      n = add_spans(st, extent, axis, p->rows[i], spans, ghosts, n);
    }
  if (!periodic || !p->wraps) return n;
  ghosts[n] = ghosts[n + 1] = true;
  if (st->low[axis]) spans[n++] = (span){-st->low[axis], 0};
  if (st->high[axis]) spans[n++] = (span){extent, extent + st->high[axis]};
  return n;
}

/* Fills the boxes made of one span of each axis, unless all of these lie in the grid. */
static void fill(const job *j, int stage, const piece *p)
{
  const ambit__wave *w = j->w;
  const ambit__wave_stage *st = &w->stages[stage];
  const int nd = st->cells.ndims;
  span spans[AMBIT_MAX_DIMS][MOST_SPANS];
  bool ghosts[AMBIT_MAX_DIMS][MOST_SPANS];
  int n[AMBIT_MAX_DIMS], at[AMBIT_MAX_DIMS] = {0};

  for (int d = 0; d < nd; d++) {
    const span all = d == nd - 1 ? p->strip : span_of(&w->all, d);
    const span s = d == w->axis + 1 ? intersect(p->columns, all) : all;

    n[d] = d == w->axis ? row_spans(j, st, p, spans[d], ghosts[d])
                        : add_spans(st, w->extents[d], d, s, spans[d], ghosts[d], 0);
    if (!n[d]) return;
  }
  for (int d = 0; d >= 0;) {
    ambit__box box = {.ndims = nd};
    bool outside = false;

    for (int k = 0; k < nd; k++) {
      box.lo[k] = spans[k][at[k]].lo;
      box.hi[k] = spans[k][at[k]].hi;
      outside |= ghosts[k][at[k]];
    }
    if (outside) ambit__host_ghost_box(&st->args[0], w->extents, &box);
    for (d = nd - 1; d >= 0 && ++at[d] == n[d]; d--)
      at[d] = 0;
  }
}

static void run_stage(const job *j, int stage, const piece *p)
{
  if (j->w->stages[stage].fn)
    compute(j, stage, p);
  else
    fill(j, stage, p);
}

/* ---- passes ---- */

static int64_t most_lag(const ambit__wave *w, int axis)
{
  int64_t most = 0;

  for (int i = 0; i < w->n; i++)
    if (w->stages[i].lag[axis] > most) most = w->stages[i].lag[axis];
  return most;
}

/* The end of the fronts along an axis that tiles or strips go along. */
static int64_t front_end(const ambit__wave *w, int axis)
{
  return w->all.hi[axis] + most_lag(w, axis);
}

static span shift(span s, int64_t by)
{
  return (span){s.lo - by, s.hi - by};
}

/* The cells of a stage that go with a front. Axes without tiles and strips have no lag. */
static piece piece_of(const ambit__wave *w, int stage, int owner, const front *f)
{
  const ambit__wave_stage *st = &w->stages[stage];
  const int next = w->axis + 1, last = w->all.ndims - 1;
  piece p = {.owner = owner, .n = 1, .columns = span_of(&w->all, next)};

  if (w->size.tile) p.columns = shift(f->columns, st->lag[next]);
  p.strip = w->size.strip ? shift(f->strip, st->lag[last]) : span_of(&w->all, last);
  return p;
}

/* All stages of a block, whose first stage has the rows from f on; at a cut, the cells that depend
 * on others are left out. */
static void run_block(const job *j, int owner, int64_t f, const front *at, span own,
                      const bool cuts[2])
{
  const ambit__wave *w = j->w;

  for (int i = 0; i < w->n; i++) {
    const ambit__wave_stage *st = &w->stages[i];
    const int64_t lag = st->lag[w->axis], lead = st->lead[w->axis];
    const span all = {own.lo + (cuts[0] ? lead : 0), own.hi - (cuts[1] ? lag : 0)};
    piece p = piece_of(w, i, owner, at);

    p.rows[0] = intersect((span){f - lag, f - lag + w->size.block}, all);
    if (p.rows[0].lo < p.rows[0].hi) run_stage(j, i, &p);
    if (owner == 0) ambit__cpu_poll(j->queue);
  }
}

/* The fronts of the last axis that the strips of a tile go through. */
static span strips_of(const ambit__wave *w, span columns)
{
  const int last = w->all.ndims - 1;

  return w->size.tile && last == w->axis + 1 ? columns
                                             : (span){w->all.lo[last], front_end(w, last)};
}

/* One tile of the cells from `lo` to `hi`. */
static void run_tile(const job *j, int owner, span columns, span own, const bool cuts[2])
{
  const ambit__wave *w = j->w;
  const int64_t end = own.hi + most_lag(w, w->axis);
  const span strips = strips_of(w, columns);
  const int64_t strip = w->size.strip ? w->size.strip : strips.hi - strips.lo;

  for (int64_t f = own.lo; f < end; f += w->size.block)
    for (int64_t x = strips.lo; x < strips.hi; x += strip) {
      const front at = {columns, intersect((span){x, x + strip}, strips)};

      run_block(j, owner, f, &at, own, cuts);
    }
}

/* The cells around a cut that both owners left out; at cell 0, where the grid wraps, also those at
 * its other end. */
static void run_seam(const job *j, int owner, span columns, int64_t at)
{
  const ambit__wave *w = j->w;
  const int64_t extent = w->extents[w->axis];
  const front all = {columns, strips_of(w, columns)};

  for (int i = 0; i < w->n; i++) {
    const ambit__wave_stage *st = &w->stages[i];
    const int64_t lag = st->lag[w->axis], lead = st->lead[w->axis];
    piece p = piece_of(w, i, owner, &all);

    p.rows[0] = (span){at - lag, at + lead};
    if (w->wraps && at == 0) {
      p.n = 2;
      p.rows[0] = (span){extent - lag, extent};
      p.rows[1] = (span){0, lead};
      p.wraps = true;
    }
    run_stage(j, i, &p);
  }
}

static void await(atomic_int *done)
{
  for (int64_t i = 0; !atomic_load_explicit(done, memory_order_acquire); i++)
    ambit__pool_pause(i);
}

static void run_owner(void *arg, int owner, int owners)
{
  const job *j = arg;
  const ambit__wave *w = j->w;
  const span columns = span_of(&w->all, w->axis + 1);
  const int64_t tile = w->size.tile ? w->size.tile : columns.hi - columns.lo;
  const int64_t end = w->size.tile ? front_end(w, w->axis + 1) : columns.hi;
  const span own = {cut(w, owner, owners), cut(w, owner + 1, owners)};
  const bool cuts[2] = {owner > 0 || w->wraps, owner + 1 < owners || w->wraps};

  for (int64_t c = columns.lo; c < end; c += tile)
    run_tile(j, owner, (span){c, c + tile}, own, cuts);
  atomic_store_explicit(&j->shares[owner].next, 1, memory_order_release);
  if (!cuts[0]) return;
  await(&j->shares[(owner + owners - 1) % owners].next);
  for (int64_t c = columns.lo; c < end; c += tile)
    run_seam(j, owner, (span){c, c + tile}, own.lo);
}

/* ---- the wave ---- */

static ambit_status make_calls(ambit__cpu *d, const ambit__wave *w, int64_t step)
{
  if (w->n > d->calls_cap) {
    free(d->calls);
    d->calls_cap = 0;
    AMBIT_NEW(d->head.errors, d->calls, (size_t)w->n);
    d->calls_cap = w->n;
  }
  if (!d->waste) {
    const size_t n = (size_t)ambit__pool_most(d->pool) * AMBIT_MAX_PARAMS;

    AMBIT_NEW(d->head.errors, d->waste, n);
  }
  for (int i = 0; i < w->n; i++) {
    const ambit__wave_stage *st = &w->stages[i];
    ambit_full_call *full = &d->calls[i];

    if (!st->fn) continue;
    full->faults = NULL;
    full->call.step = step + st->iteration;
    ambit__cpu_fill_call(st->args, st->nargs, w->extents, st->cells.ndims, &full->call);
  }
  return AMBIT_OK;
}

/* Room for reductions that count, of no cells so far. */
static ambit_status begin_results(ambit__cpu *d, job *j)
{
  const ambit__wave *w = j->w;
  ambit_full_call unused;
  size_t most;

  for (int i = 0; i < w->n; i++)
    if (w->stages[i].keeps && w->stages[i].fn->words > j->words) j->words = w->stages[i].fn->words;
  most = (size_t)w->n * (size_t)j->owners * (size_t)j->words;
  if (most > d->results_cap) {
    free(d->results);
    d->results_cap = 0;
    AMBIT_NEW(d->head.errors, d->results, most);
    d->results_cap = most;
  }
  j->results = d->results;
  for (int i = 0; i < w->n; i++)
    for (int k = 0; w->stages[i].keeps && k < j->owners; k++)
      ambit__cpu_point(w->stages[i].fn, results_of(j, i, k), true, &unused.call);
  return AMBIT_OK;
}

/* Folds the results of all owners into the scalars. */
static void end_results(const job *j)
{
  for (int i = 0; i < j->w->n; i++) {
    const ambit__wave_stage *st = &j->w->stages[i];
    const ambit__launch l = {.nargs = st->nargs, .args = st->args, .folds = st->folds};

    if (st->keeps) ambit__cpu_fold(st->fn, &l, results_of(j, i, 0), j->owners);
  }
}

static int owners_for(const ambit__cpu *d, const ambit__wave *w)
{
  const int64_t rows = w->all.hi[w->axis] - w->all.lo[w->axis];
  const int64_t most = w->least ? rows / w->least : rows;
  double ns = 0;
  int threads;

  for (int i = 0; i < w->n; i++)
    if (w->stages[i].fn)
      ns += ambit__cpu_function_of(w->stages[i].fn)->cell_ns *
            (double)ambit__box_volume(&w->stages[i].cells);
  threads = ambit__cpu_threads_for(d, ns);
  return most < 1 ? 1 : most < threads ? (int)most : threads;
}

ambit_status ambit__cpu_wave(ambit__queue *q, const ambit__command *c)
{
  const ambit__wave *w = c->wave.wave;
  ambit__cpu *d = (ambit__cpu *)q->device;
  const int owners = owners_for(d, w);
  job j = {.w = w, .queue = q, .shares = d->shares, .owners = owners};

  AMBIT_TRY(make_calls(d, w, c->wave.step));
  AMBIT_TRY(begin_results(d, &j));
  j.calls = d->calls;
  j.waste = d->waste;
  for (int i = 0; i < owners; i++)
    atomic_store_explicit(&d->shares[i].next, 0, memory_order_relaxed);
  ambit__pool_run(d->pool, owners, run_owner, &j);
  end_results(&j);
  return AMBIT_OK;
}
