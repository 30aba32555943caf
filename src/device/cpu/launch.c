/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.c - runs a function of the CPU device on all cores.
 *
 * A launch cuts its box into slabs, always the same way. Each thread has its own share of them, so
 * that its pages are where it first touched them. A thread that finishes early takes slabs of
 * others, which may have lost their core for a while. A small launch has one slab for each thread,
 * and threads take only their own. Between its slabs the calling thread polls, so that messages
 * make progress. Launches that reduce are cut the same way for any number of threads, and the
 * results of the slabs are folded in order, so that a sum is the same in every run and for every
 * number of threads. Strict sums are exact and need no order.
 */
#include "device/cpu/trial.h"

#include "base/clock.h"

#include <math.h>

enum {
  CELLS_PER_SLAB = 1 << 19,    /* of a launch large enough to be divided dynamically */
  SLABS_PER_THREAD = 8,        /* at most */
  CELLS_PER_POLL = 1 << 21,    /* between two polls: about a millisecond */
  UNITS_PER_POLL = 4,          /* the least between two polls: cells beside a slab are read twice */
  MOST_BOXES = 3,              /* of a slab of pairs: part of a plane, whole ones, part of one */
  CELLS_PER_PARTIAL = 1 << 15, /* per slab of a launch that reduces, */
  CELLS_PER_WORD = 16          /* and for each word of its results */
};

static const double POLL_SECONDS = 50e-6; /* least time between two polls */

typedef ambit__cpu device;
typedef ambit__cpu_function function;
typedef ambit__cpu_share share;

/* ---- slabs ---- */

/* Cells along an axis that should stay together: a block of rows, or a page. */
static int64_t slab_unit(const ambit__box *b, int axis)
{
  return axis == b->ndims - 1 ? AMBIT__CPU_PAGE / (int64_t)sizeof(float) : AMBIT__CPU_SLAB_ALIGN;
}

/* Slabs are cut along the first axis that has enough cells for all, or along the longest one, but
 * not along `whole` ones; -1: all are. */
static int slab_axis(const ambit__box *b, int slabs, unsigned whole)
{
  int best = -1;

  for (int d = 0; d < b->ndims; d++) {
    int64_t units = (b->hi[d] - b->lo[d]) / slab_unit(b, d);

    if (whole >> d & 1) continue;
    if (units >= slabs) return d;
    if (best < 0 || units > (b->hi[best] - b->lo[best]) / slab_unit(b, best)) best = d;
  }
  return best;
}

/* The longest axis beside this one along which slabs may have any length; -1: none. */
static int second_axis(const ambit__box *b, int axis, unsigned whole)
{
  int best = -1;

  for (int d = 0; d < b->ndims - 1; d++)
    if (d != axis && !(whole >> d & 1) &&
        (best < 0 || b->hi[d] - b->lo[d] > b->hi[best] - b->lo[best]))
      best = d;
  return best;
}

/* The number of slabs beside each other along the second of two axes, of n in all, with which they
 * have the fewest cells at their surfaces. */
static int slabs_across(const ambit__box *b, const int axes[2], int n)
{
  const double along = (double)(b->hi[axes[0]] - b->lo[axes[0]]);
  const double across = (double)(b->hi[axes[1]] - b->lo[axes[1]]);
  double least = INFINITY;
  int best = 1;

  for (int i = 1; i <= n; i++) {
    const double surface = (double)n / i / along + i / across;

    if (n % i || surface >= least) continue;
    least = surface;
    best = i;
  }
  return best;
}

/* Slab i of n along an axis. If there are enough cells, its ends are at whole units, counted from
 * `start`. Along rows this is required: two slabs must not share a cache line (nest/rows_walk.c),
 * and rows start at one. */
static ambit__box slab(const ambit__box *b, int64_t start, int axis, int64_t i, int64_t n)
{
  const int64_t least = axis == b->ndims - 1 ? AMBIT__CPU_LINE_CELLS : 1;
  const bool enough = b->hi[axis] - b->lo[axis] >= n * slab_unit(b, axis);
  const int64_t unit = enough ? slab_unit(b, axis) : least;
  const int64_t before = (b->lo[axis] - start) % unit;
  const int64_t units = (before + b->hi[axis] - b->lo[axis] + unit - 1) / unit;
  ambit__box s = *b;

  if (i > 0) s.lo[axis] = b->lo[axis] - before + units * i / n * unit;
  if (i + 1 < n) s.hi[axis] = b->lo[axis] - before + units * (i + 1) / n * unit;
  if (s.lo[axis] < b->lo[axis]) s.lo[axis] = b->lo[axis];
  if (s.hi[axis] < b->lo[axis]) s.hi[axis] = b->lo[axis];
  return s;
}

/* Slab i of n of the pairs of indices along the first two axes, in their order, as boxes; returns
 * their number. */
static int slab_of_pairs(const ambit__box *b, int64_t i, int64_t n, ambit__box *boxes)
{
  const int64_t across = b->hi[1] - b->lo[1], pairs = (b->hi[0] - b->lo[0]) * across;
  const int64_t end = pairs * (i + 1) / n;
  int count = 0;

  for (int64_t at = pairs * i / n, next; at < end; at = next) {
    const int64_t plane = at / across, first = at % across;
    const int64_t whole = first ? 0 : (end - at) / across;
    ambit__box box = *b;

    next = whole ? at + whole * across : end < (plane + 1) * across ? end : (plane + 1) * across;
    box.lo[0] = b->lo[0] + plane;
    box.hi[0] = box.lo[0] + (whole ? whole : 1);
    if (!whole) {
      box.lo[1] = b->lo[1] + first;
      box.hi[1] = box.lo[1] + next - at;
    }
    boxes[count++] = box;
  }
  return count;
}

/* ---- boxes and chunks ---- */

typedef struct sweep {
  const function *f;
  const ambit__box *box;
  const ambit__chunks *chunks; /* of a sparse grid; NULL: a box */
  const ambit_full_call *call; /* complete except for lo, hi and the addresses of reductions */
  int axes[2];                 /* the axes along which the box is cut; the second: -1, or */
  int slabs, across;           /* slabs in all, and beside each other along that one */
  bool has_pairs;              /* instead: slabs have pairs of indices along the first two axes */
  share *shares;               /* one per thread */
  bool reduces;
  ambit__queue *q; /* to poll */
} sweep;

static void begin_bins(const ambit__param *q, ambit__value *values)
{
  const ambit__value one = ambit__reduce_identity(q);

  for (int b = 0; b < q->bins; b++)
    values[b] = one;
}

void ambit__cpu_point(const ambit__function *fn, int64_t *partial, bool begins,
                      ambit_compiled_call *call)
{
  const function *f = (const function *)fn;

  for (int p = 0; p < f->rule->nparams; p++)
    if (f->binned[p]) {
      call->origin[p] = &partial[f->at[p]];
      if (begins) begin_bins(&f->rule->params[p], call->origin[p]);
    } else if (f->rule->params[p].kind == PARAM_REDUCE) {
      call->origin[p] = &partial[f->at[p]];
      if (!begins) continue;
      if (f->exact[p] && f->module)
        *(ambit__long *)call->origin[p] = (ambit__long){{0}};
      else
        *(ambit__value *)call->origin[p] = ambit__reduce_identity(&f->rule->params[p]);
    }
}

void ambit__cpu_call(const ambit__function *fn, const ambit_compiled_call *call)
{
  const function *f = (const function *)fn;

  if (f->run)
    f->run(call);
  else
    ambit__generic_run(&f->generic, call);
}

static void call_box(const function *f, ambit_full_call *full, const ambit__box *box)
{
  for (int d = 0; d < box->ndims; d++) {
    full->call.lo[d] = box->lo[d] - full->call.offset[d];
    full->call.hi[d] = box->hi[d] - full->call.offset[d];
  }
  if (!ambit__box_is_empty(box)) ambit__cpu_call(&f->head, &full->call);
}

void ambit__cpu_run_box(const ambit__function *fn, const ambit_full_call *call,
                        const ambit__box *box, int64_t *partial)
{
  const function *f = (const function *)fn;
  ambit_full_call full = *call;

  if (f->head.words) ambit__cpu_point(&f->head, partial, true, &full.call);
  call_box(f, &full, box);
}

static void run_slab(const sweep *s, int i)
{
  const function *f = s->f;
  const int64_t *start = s->call->call.offset;
  const int *axes = s->axes, across = s->across;
  ambit_full_call full = *s->call;
  ambit__box boxes[MOST_BOXES];
  int n = 1;

  if (s->has_pairs) {
    n = slab_of_pairs(s->box, i, s->slabs, boxes);
  } else {
    boxes[0] = slab(s->box, start[axes[0]], axes[0], i / across, s->slabs / across);
    if (across > 1) boxes[0] = slab(&boxes[0], start[axes[1]], axes[1], i % across, across);
  }
  if (f->head.words)
    ambit__cpu_point(&f->head, f->partial + (int64_t)i * f->head.words, true, &full.call);
  for (int k = 0; k < n; k++)
    call_box(f, &full, &boxes[k]);
}

void ambit__cpu_run_chunks(const ambit__function *fn, const ambit_full_call *call,
                           const ambit__chunks *chunks, int64_t first, int64_t end,
                           int64_t *partial)
{
  const function *f = (const function *)fn;
  ambit_full_call full = *call;

  if (f->head.words) ambit__cpu_point(&f->head, partial, true, &full.call);
  full.chunks = chunks->table;
  full.cells = chunks->first;
  full.first = first;
  full.end = end;
  f->run(&full.call);
}

/* A slab of a sparse grid is a range of chunks. */
static void run_chunks(const sweep *s, int i)
{
  const int64_t n = s->chunks->n;

  ambit__cpu_run_chunks(&s->f->head, s->call, s->chunks, n * i / s->slabs, n * (i + 1) / s->slabs,
                        s->f->partial + (int64_t)i * s->f->head.words);
}

static int first_slab(const sweep *s, int thread, int threads)
{
  return (int)((int64_t)s->slabs * thread / threads);
}

void ambit__cpu_poll(ambit__queue *q)
{
  double now;

  if (!q->poll || (now = ambit__clock()) < q->polled + POLL_SECONDS) return;
  q->poll(q->poll_user);
  q->polled = now;
}

/* Slab i, on one of the threads. */
static void run_one(const sweep *s, int i, int thread)
{
  if (s->chunks)
    run_chunks(s, i);
  else
    run_slab(s, i);
  if (thread == 0) ambit__cpu_poll(s->q);
}

/* A thread's own share first, then the rest of the others'. */
static void run_share(void *arg, int thread, int threads)
{
  const sweep *s = arg;

  for (int k = 0; k < threads; k++) {
    int t = (thread + k) % threads, end = first_slab(s, t + 1, threads), i;

    while ((i = atomic_fetch_add_explicit(&s->shares[t].next, 1, memory_order_relaxed)) < end)
      run_one(s, i, thread);
  }
}

/* One slab for each thread. To ask all others for more takes longer than a small slab. */
static void run_own(void *arg, int thread, int threads)
{
  (void)threads;
  run_one(arg, thread, thread);
}

/* Runs all slabs. */
static void run_slabs(sweep *s, ambit__pool *pool, int threads)
{
  if (s->slabs == threads) {
    ambit__pool_run(pool, threads, run_own, s);
    return;
  }
  for (int t = 0; t < threads; t++)
    atomic_store_explicit(&s->shares[t].next, first_slab(s, t, threads), memory_order_relaxed);
  ambit__pool_run(pool, threads, run_share, s);
}

/* Slabs of a launch that polls after each of them, limited by the units along their axis. */
static int64_t slabs_to_poll(int64_t cells, int64_t units, int threads)
{
  const int64_t wanted = cells / threads / CELLS_PER_POLL * threads, most = units / UNITS_PER_POLL;

  return wanted < most ? wanted : most;
}

/* Cells of a slab along two axes, and those beside them. */
static double reads(double along, double across)
{
  return (along + 2) * (across + 2);
}

static double share_of(int64_t n, int64_t parts)
{
  const int64_t most = (n + parts - 1) / parts;

  return (double)most;
}

/* Of the first two axes, the number of slabs across with which the largest of n reads the fewest
 * cells; 0: it reads fewer if slabs have pairs of indices, in their order. So all have as much to
 * do: 13 x 13 indices in 4 x 4 slabs leave some with 1.5 times the mean. */
static int cut_two_axes(const ambit__box *b, int n)
{
  const int64_t along = b->hi[0] - b->lo[0], across = b->hi[1] - b->lo[1];
  const double pairs = share_of(along * across, n);
  double least =
      pairs < (double)across ? reads(1, pairs) : reads(pairs / (double)across, (double)across);
  int best = 0;

  for (int i = 1; i <= n; i++) {
    const double cells = reads(share_of(along, n / i), share_of(across, i));

    if (n % i || cells >= least) continue;
    least = cells;
    best = i;
  }
  return best;
}

/* Slabs where no axis has enough units for them. Of four axes and more the first two are cut: along
 * others a slab would be a comb in memory. In three dimensions a slab of pairs would have parts of
 * planes, which only reductions get: they had a slab for each unit. */
static bool cut_pairs(sweep *s, int64_t slabs, int64_t units)
{
  const ambit__box *b = s->box;
  const int64_t first = b->hi[0] - b->lo[0], second = b->ndims > 1 ? b->hi[1] - b->lo[1] : 0;

  if (s->f->whole || b->ndims < 3 || first * second < slabs) return false;
  if (b->ndims > 3 ? first / slab_unit(b, 0) >= slabs : !s->reduces || units >= slabs) return false;
  s->axes[1] = 1;
  s->slabs = (int)slabs;
  s->across = b->ndims > 3 ? cut_two_axes(b, s->slabs) : 0;
  s->has_pairs = !s->across;
  return true;
}

/* Chooses the number of slabs and their axes. For a reduction they depend only on the box. No block
 * of rows is cut in two, unless there are more threads than blocks. Then slabs are cut along two
 * axes if they can be: a thread reads the cells beside its slab from the cache of another core. */
static void cut_box(sweep *s, int threads)
{
  const int64_t cells = ambit__box_volume(s->box), least = s->reduces ? 1 : threads;
  const int64_t limit = s->reduces ? ambit__cpu_most_slabs(s->f) : threads * SLABS_PER_THREAD;
  const int64_t words = (int64_t)s->f->head.words * CELLS_PER_WORD;
  int64_t slabs = s->reduces ? cells / (words > CELLS_PER_PARTIAL ? words : CELLS_PER_PARTIAL)
                             : cells / threads / CELLS_PER_SLAB * threads;
  int64_t units, polls;
  int axis;

  s->slabs = s->across = 1;
  s->axes[0] = 0;
  s->axes[1] = -1;
  if (slabs > limit) slabs = limit;
  if (slabs < least) slabs = least;
  axis = slab_axis(s->box, (int)slabs, s->f->whole);
  if (axis < 0) return;
  units = (s->box->hi[axis] - s->box->lo[axis]) / slab_unit(s->box, axis);
  if (cut_pairs(s, slabs, units)) return;
  if (slabs > units) slabs = units > least ? units : least;
  polls = s->q->poll && !s->reduces ? slabs_to_poll(cells, units, threads) : 0;
  s->slabs = (int)(slabs > polls ? slabs : polls);
  s->axes[0] = axis;
  s->axes[1] = s->reduces || units >= s->slabs ? -1 : second_axis(s->box, axis, s->f->whole);
  s->across = s->axes[1] < 0 ? 1 : slabs_across(s->box, s->axes, s->slabs);
}

/* The same for chunks: slabs have as many of them, though not as many cells. */
static void cut_chunks(sweep *s, int threads)
{
  const int64_t wanted =
      s->reduces ? s->chunks->cells / CELLS_PER_PARTIAL : threads * SLABS_PER_THREAD;
  int64_t slabs = wanted < AMBIT__CPU_PARTIALS || !s->reduces ? wanted : AMBIT__CPU_PARTIALS;

  if (slabs > s->chunks->n) slabs = s->chunks->n;
  s->slabs = slabs < 1 ? 1 : (int)slabs;
}

void ambit__cpu_set_bounds(const ambit__launch *l)
{
  for (int i = 0; i < l->nargs; i++)
    if (l->chunks->form->view[i]) ambit__host_bounds(l->args[i].store, l->chunks, i);
}

void ambit__cpu_fill_call(const ambit__argument *args, int nargs, const int64_t *extents, int ndims,
                          ambit_compiled_call *call)
{
  for (int d = 0; d < ndims; d++) {
    call->offset[d] = 0;
    call->extent[d] = extents[d];
  }
  for (int i = 0; i < nargs; i++) {
    const ambit__store *store = args[i].store;

    if (!store) {
      call->origin[i] = ambit__host_base(args[i].value);
      continue;
    }
    call->origin[i] = ambit__host_base(store->buffer) +
                      store->layout.origin * (int64_t)ambit_type_size(store->layout.type);
    call->component[i] = store->layout.component;
    for (int d = 0; d < ndims; d++) {
      if (call->offset[d] < store->layout.own.lo[d]) call->offset[d] = store->layout.own.lo[d];
      call->stride[i][d] = store->layout.stride[d];
    }
  }
}

/* Adds the results of the slabs of a strict sum, and stores the total in the scalar. */
static void finish_sum(const function *f, const int64_t *partials, int p, int64_t n, bool more,
                       ambit__buffer *value)
{
  const ambit_type type = f->rule->params[p].type;
  ambit__scalar_bytes *to = (ambit__scalar_bytes *)ambit__host_base(value);

  if (!more) to->sum = (ambit__long){{0}};
  for (int64_t i = 0; i < n; i++, partials += f->head.words)
    if (f->module)
      ambit__long_join(&to->sum, (const ambit__long *)&partials[f->at[p]]);
    else
      ambit__long_add(&to->sum, *(const double *)&partials[f->at[p]]);
  ambit__value_store(to->value, type, (ambit__value){.real = ambit__long_value(&to->sum, type)});
}

/* Folds the results of the slabs in order, and stores the total in the scalar. */
static void finish_reduction(const function *f, const int64_t *partials, int p, int64_t n,
                             bool more, ambit__buffer *value)
{
  const ambit__param *q = &f->rule->params[p];
  const bool real = ambit__type_is_real(q->type);
  ambit__value total =
      more ? ambit__value_load(ambit__host_base(value), q->type) : ambit__reduce_identity(q);

  for (int64_t i = 0; i < n; i++, partials += f->head.words)
    total = ambit__reduce_fold(q, total, *(const ambit__value *)&partials[f->at[p]]);
  if (real) total.real += 0.0; /* -0 and 0 become the same result */
  total = ambit__value_cast(total, real ? AMBIT_F64 : AMBIT_I64, q->type);
  ambit__value_store(ambit__host_base(value), q->type, total);
}

/* Folds the components of the slabs in order into totals. */
static void finish_bins(const function *f, const int64_t *partials, int p, int64_t n,
                        const ambit__store *store)
{
  const ambit__param *q = &f->rule->params[p];
  const bool counts = q->reduce == REDUCE_SUM && !ambit__type_is_real(q->type);
  const int64_t step = store->layout.component;
  const ambit__value *from = (const ambit__value *)&partials[f->at[p]];
  ambit__value *total = (ambit__value *)(void *)ambit__host_base(store->buffer);

  for (int64_t i = 0; i < n; i++, from += f->head.words)
    for (int b = 0; b < q->bins; b++) {
      ambit__value *to = &total[b * step];

      if (counts)
        to->integer = (int64_t)((uint64_t)to->integer + (uint64_t)from[b].integer);
      else
        *to = ambit__reduce_fold(q, *to, from[b]);
    }
}

void ambit__cpu_fold(const ambit__function *fn, const ambit__launch *l, const int64_t *partials,
                     int64_t n)
{
  const function *f = (const function *)fn;

  for (int i = 0; i < f->rule->nparams; i++)
    if (f->binned[i])
      finish_bins(f, partials, i, n, l->args[i].store);
    else if (f->exact[i])
      finish_sum(f, partials, i, n, ambit__launch_folds(l, i), l->args[i].value);
    else if (f->rule->params[i].kind == PARAM_REDUCE)
      finish_reduction(f, partials, i, n, ambit__launch_folds(l, i), l->args[i].value);
}

ambit_status ambit__cpu_tile_fold(ambit__queue *q, const ambit__command *c)
{
  (void)q;
  ambit__cpu_fold(c->tile_fold.fn, c->tile_fold.launch, c->tile_fold.partials, c->tile_fold.n);
  return AMBIT_OK;
}

ambit_status ambit__cpu_launch(ambit__queue *q, const ambit__command *c)
{
  device *d = (device *)q->device;
  function *f = (function *)c->launch.fn;
  const ambit__launch *l = c->launch.launch;
  ambit_full_call call = {.faults = l->faults ? (int64_t *)ambit__host_base(l->faults) : NULL};
  sweep s = {.f = f, .box = &l->box, .call = &call, .shares = d->shares, .q = q};
  double start;
  int threads;

  if (f->ref) return ambit__backend_ref.execute(q, AMBIT__COMMAND(launch, f->ref, l));
  ambit__cpu_fill_call(l->args, l->nargs, l->extents, l->box.ndims, &call.call);
  call.call.step = l->step;
  if (!l->box.ndims) {
    f->run(&call.call);
    return AMBIT_OK;
  }
  s.reduces = f->head.words > 0;
  s.chunks = l->chunks;
  threads = ambit__cpu_threads_for(
      d, f->cell_ns * (double)(l->chunks ? l->chunks->cells : ambit__box_volume(&l->box)));
  if (s.chunks) {
    ambit__cpu_set_bounds(l);
    cut_chunks(&s, threads);
  } else {
    cut_box(&s, threads);
  }
  start = f->trial ? ambit__clock() : 0;
  run_slabs(&s, d->pool, threads);
  if (f->trial) ambit__cpu_trial_note(f, ambit__box_volume(&l->box), ambit__clock() - start);
  if (s.reduces) ambit__cpu_fold(&f->head, l, f->partial, s.slabs);
  return AMBIT_OK;
}
