/* SPDX-License-Identifier: BSD-3-Clause */
/* wave.c - several iterations in one pass over the cells, while they are in the cache.
 *
 * Each thread owns a range of the axis and runs its pass alone: block by block, all stages of a
 * block one after the other, each its lag behind. Cells that depend on two owners are left out
 * on both sides of the cut (grid/skew.h). The owner after a cut does these cells, the seam, as soon
 * as the owner before it has finished. Nobody waits for anybody else.
 *
 *          owner 0          owner 1
 *        #############|#############
 *        ############   ############      <- the seam of owner 1 is the triangle between them
 *        ###########     ###########
 */
#include "device/cpu/cpu.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
  ALIGNED = 8,   /* cuts are at multiples of this: see SLAB_ALIGN in cpu.c */
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
  bool wraps;   /* that seam */
} piece;

typedef struct job {
  const ambit__wave *w;
  ambit__queue *queue;
  const ambit_full_call *calls; /* by stage; complete except for the box */
  ambit__cpu_share *shares;
  ambit__long *waste; /* by owner and parameter: for the results of reductions */
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

static void compute(const job *j, int stage, const piece *p)
{
  const ambit__wave *w = j->w;
  const ambit__wave_stage *st = &w->stages[stage];
  const ambit__rule *rule;
  const ambit_cpu_fn run = ambit__cpu_entry(st->fn, &rule);
  ambit_full_call full = j->calls[stage];
  ambit_call *call = &full.call;

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
    if (ambit__box_is_empty(&box)) continue;
    for (int d = 0; d < box.ndims; d++) {
      call->lo[d] = box.lo[d] - call->offset[d];
      call->hi[d] = box.hi[d] - call->offset[d];
    }
    run(call);
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
    const span all = span_of(&w->all, d), s = d == w->axis + 1 ? p->columns : all;

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
    if (outside) ambit__host_ghost_box(st->args[0].store, st->args[0].boundaries, w->extents, &box);
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
    if (w->stages[i].skew.lag[axis] > most) most = w->stages[i].skew.lag[axis];
  return most;
}

/* The columns of a stage in the tile that starts at c. */
static span columns_of(const ambit__wave *w, const ambit__wave_stage *st, int64_t c)
{
  const int64_t lo = c - st->skew.lag[w->axis + 1];

  return w->tile ? (span){lo, lo + w->tile} : span_of(&w->all, w->axis + 1);
}

/* One tile of the cells from `lo` to `hi`; at a cut, the cells that depend on others are left
 * out. */
static void run_tile(const job *j, int owner, int64_t c, span own, bool cut_lo, bool cut_hi)
{
  const ambit__wave *w = j->w;
  const int64_t end = own.hi + most_lag(w, w->axis);

  for (int64_t f = own.lo; f < end; f += w->block)
    for (int i = 0; i < w->n; i++) {
      const ambit__wave_stage *st = &w->stages[i];
      const int64_t lag = st->skew.lag[w->axis], lead = st->skew.lead[w->axis];
      const span all = {own.lo + (cut_lo ? lead : 0), own.hi - (cut_hi ? lag : 0)};
      const span now = intersect((span){f - lag, f - lag + w->block}, all);
      const piece p = {owner, 1, {now}, columns_of(w, st, c), false};

      if (now.lo < now.hi) run_stage(j, i, &p);
      if (owner == 0) ambit__cpu_poll(j->queue);
    }
}

/* The cells around a cut that both owners left out; at cell 0, where the grid wraps, also those at
 * its other end. */
static void run_seam(const job *j, int owner, int64_t c, int64_t at)
{
  const ambit__wave *w = j->w;
  const int64_t extent = w->extents[w->axis];

  for (int i = 0; i < w->n; i++) {
    const ambit__wave_stage *st = &w->stages[i];
    const int64_t lag = st->skew.lag[w->axis], lead = st->skew.lead[w->axis];
    piece p = {owner, 1, {{at - lag, at + lead}}, columns_of(w, st, c), false};

    if (w->wraps && at == 0)
      p = (piece){owner, 2, {{extent - lag, extent}, {0, lead}}, p.columns, true};
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
  const int64_t tile = w->tile ? w->tile : columns.hi - columns.lo;
  const int64_t end = columns.hi + (w->tile ? most_lag(w, w->axis + 1) : 0);
  const span own = {cut(w, owner, owners), cut(w, owner + 1, owners)};
  const bool cut_lo = owner > 0 || w->wraps, cut_hi = owner + 1 < owners || w->wraps;

  for (int64_t c = columns.lo; c < end; c += tile)
    run_tile(j, owner, c, own, cut_lo, cut_hi);
  atomic_store_explicit(&j->shares[owner].next, 1, memory_order_release);
  if (!cut_lo) return;
  await(&j->shares[(owner + owners - 1) % owners].next);
  for (int64_t c = columns.lo; c < end; c += tile)
    run_seam(j, owner, c, own.lo);
}

/* ---- the wave ---- */

static ambit_status make_calls(ambit__cpu *d, const ambit__wave *w, int64_t step)
{
  if (w->n > d->calls_cap) {
    free(d->calls);
    d->calls_cap = 0;
    d->calls = ambit__new(d->head.errors, (size_t)w->n, sizeof *d->calls);
    if (!d->calls) return AMBIT_ENOMEM;
    d->calls_cap = w->n;
  }
  if (!d->waste) {
    const size_t n = (size_t)ambit__pool_threads(d->pool) * AMBIT_MAX_PARAMS;

    d->waste = ambit__new(d->head.errors, n, sizeof *d->waste);
    if (!d->waste) return AMBIT_ENOMEM;
  }
  for (int i = 0; i < w->n; i++) {
    const ambit__wave_stage *st = &w->stages[i];
    ambit_full_call *full = &d->calls[i];

    if (!st->fn) continue;
    full->ends = 0;
    full->faults = NULL;
    full->call.step = step + st->iteration;
    ambit__cpu_fill_call(st->args, st->nargs, w->extents, st->cells.ndims, &full->call);
  }
  return AMBIT_OK;
}

static int owners_for(const ambit__cpu *d, const ambit__wave *w)
{
  const int64_t rows = w->all.hi[w->axis] - w->all.lo[w->axis];
  const int64_t most = w->least ? rows / w->least : rows;
  const int threads = ambit__cpu_threads_for(d, (int64_t)w->cells);

  return most < 1 ? 1 : most < threads ? (int)most : threads;
}

ambit_status ambit__cpu_wave(ambit__queue *q, const ambit__wave *w, int64_t step)
{
  ambit__cpu *d = (ambit__cpu *)q->device;
  const int owners = owners_for(d, w);
  job j = {.w = w, .queue = q, .shares = d->shares};

  AMBIT_TRY(make_calls(d, w, step));
  j.calls = d->calls;
  j.waste = d->waste;
  for (int i = 0; i < owners; i++)
    atomic_store_explicit(&d->shares[i].next, 0, memory_order_relaxed);
  ambit__pool_run(d->pool, owners, run_owner, &j);
  return AMBIT_OK;
}
