/* SPDX-License-Identifier: BSD-3-Clause */
/* wavefront_plan.c - depth, block and tile of a wavefront, by a model of caches and memory.
 *
 * All cells that the stages of a block touch must stay in the second-level cache until the last
 * stage is through. Then a pass moves each buffer once between memory and cache, whatever its
 * depth, and tiles move some of it again at their edges, where stages reach back into the previous
 * tile.
 */
#include "base/memory.h"
#include "runtime/program/wavefront.h"

#include <math.h>
#include <stdlib.h>

/* Per thread: bytes per nanosecond from memory, from a cache shared by all cores and from the
 * core's own, and operations per nanosecond; nanoseconds to start all threads, and a call. Rough,
 * since only ratios matter, and rather in favour of waves, which are tried before they are kept. */
static const double MEMORY = 10, SHARED = 20, OWN = 50, WORK = 64, START = 1500, CALL = 60;

static const double CACHE_SHARE = 0.75; /* of the second-level cache, for the cells of a block */
static const double LEAST_GAIN = 0.9;   /* of the time, to prefer a wave */

enum { CELLS_PER_THREAD = 16384 }; /* fewer are left to fewer threads */

static const int depths[] = {2, 3, 4, 6, 8, 12, 16, 24, 32};
static const int64_t blocks[] = {4, 8, 16, 32, 64};

/* The problem, as far as the model is concerned. Bytes and work are those of one cell of the grid
 * in one iteration. */
typedef struct problem {
  const ambit_program *p;
  ambit__device_info info;
  double cells;   /* of the grid */
  double rest;    /* cells of one row of the wave's next axis: all axes after it */
  double bytes;   /* read and written by single launches */
  double work;    /* operations */
  double touched; /* bytes of all buffers */
  int launches;   /* of an iteration */
  double threads; /* that work on a launch */
} problem;

static problem problem_of(const ambit_program *p)
{
  ambit__device *dev = p->grid->context->engines[0].device;
  problem m = {.p = p, .cells = (double)ambit__box_volume(&p->grid->box), .rest = 1};

  dev->backend->info(dev, &m.info);
  m.threads = floor(m.cells / CELLS_PER_THREAD);
  if (m.threads > m.info.cores) m.threads = m.info.cores;
  if (m.threads < 1) m.threads = 1;
  for (int d = 2; d < p->grid->box.ndims; d++)
    m.rest *= (double)p->grid->box.hi[d];
  for (size_t i = 0; i < p->nsteps; i++) {
    ambit__price price;
    double share;

    if (p->steps[i].kind != STEP_APPLY || ambit__box_is_empty(&p->applies[i].region)) continue;
    price = ambit__price_of(p->steps[i].kernel->rule);
    share = (double)ambit__box_volume(&p->applies[i].region) / m.cells;
    m.bytes += price.bytes * share;
    m.work += price.flops * share;
    m.launches++;
  }
  for (int i = 0; i < p->nfields; i++)
    m.touched += (double)ambit_type_size(p->fields[i]->type) * p->fields[i]->components;
  return m;
}

/* ---- the model ---- */

/* Cells of a buffer along an axis that the stages need at once, less one block; and whether it is
 * written. */
static int64_t spread(const ambit__wavefront *w, int buffer, int axis, bool *written)
{
  int64_t first = 0, last = 0;
  bool any = false;

  *written = false;
  for (int i = 0; i < w->wave.n; i++)
    for (int k = 0; k < w->fronts[i].naccesses; k++) {
      const ambit__access *a = &w->fronts[i].accesses[k];
      const int64_t lag = w->stages[i].skew.lag[axis];

      if (a->buffer != buffer) continue;
      if (!any || lag - a->high[axis] < first) first = lag - a->high[axis];
      if (!any || lag + a->low[axis] > last) last = lag + a->low[axis];
      *written |= a->writes && !w->fronts[i].ghosts;
      any = true;
    }
  return last - first;
}

/* Bytes in the cache while a block passes, and bytes per cell that a pass moves to and from
 * memory. */
static void weigh(const problem *m, const ambit__wavefront *w, double *cached, double *moved)
{
  const int64_t columns = m->p->grid->box.hi[1];

  *cached = *moved = 0;
  for (int i = 0; i < m->p->nfields; i++) {
    const ambit_field *f = m->p->fields[i];
    const double size = (double)ambit_type_size(f->type) * f->components;
    bool written;
    const double rows = (double)(w->wave.block + spread(w, i, 0, &written));
    const double over = w->wave.tile ? (double)spread(w, i, 1, &written) : 0;
    const double width = w->wave.tile ? (double)w->wave.tile : (double)columns;

    *cached += size * rows * (width + over) * m->rest;
    *moved += size * (written ? 2 : 1) * (1 + over / width);
  }
}

/* Bytes per nanosecond of one thread, where the fields are. */
static double speed(const problem *m)
{
  const double all = m->touched * m->cells;

  if (all <= CACHE_SHARE * m->threads * (double)m->info.l2) return OWN;
  return all <= CACHE_SHARE * (double)m->info.l3 ? SHARED : MEMORY;
}

static double most(double a, double b)
{
  return a > b ? a : b;
}

/* Nanoseconds of an iteration by single launches, and in a wave. */
static double time_single(const problem *m)
{
  const double cell = most(m->bytes / speed(m), most(m->work / WORK, m->bytes / OWN));

  return m->cells * cell / m->threads + (m->threads > 1 ? m->launches * START : 0);
}

static double time_wave(const problem *m, const ambit__wavefront *w, double moved)
{
  const double depth = w->wave.iterations;
  const double cell = most(moved / depth / speed(m), most(m->work / WORK, m->bytes / OWN));
  const double columns = (double)m->p->grid->box.hi[1], rows = (double)m->p->grid->box.hi[0];
  const double tiles = w->wave.tile ? columns / (double)w->wave.tile + 1 : 1;
  const double calls = w->wave.n / depth * tiles * (rows / (double)w->wave.block + 1);

  return (m->cells * cell + calls * CALL) / m->threads + (m->threads > 1 ? 2 * START / depth : 0);
}

/* ---- the choice ---- */

/* Tiles that fit in the cache with this block; returns false if not even the narrowest does. */
static bool fit_tile(const problem *m, ambit__wavefront *w)
{
  const bool cuts_rows = m->p->grid->box.ndims == 2;
  const int64_t unit = cuts_rows ? 512 : 4, columns = m->p->grid->box.hi[1];
  const double room = CACHE_SHARE * (double)(m->info.l2 ? m->info.l2 : 1 << 20);
  double cached, moved, narrow;

  w->wave.tile = 0;
  weigh(m, w, &cached, &moved);
  if (cached <= room) return true;
  if (ambit__wavefront_wraps(w, 1)) return false;
  w->wave.tile = unit;
  weigh(m, w, &narrow, &moved);
  if (narrow > room) return false;
  w->wave.tile = 2 * unit;
  weigh(m, w, &cached, &moved);
  w->wave.tile = unit * (int64_t)(1 + (room - narrow) / (cached - narrow));
  if (w->wave.tile >= columns) w->wave.tile = 0;
  return true;
}

/* Chooses block and tile of a wave; returns its time, less than 0 if nothing fits. */
static double fit(const problem *m, ambit__wavefront *w)
{
  const int64_t rows = m->p->grid->box.hi[0];
  double best = -1;
  int64_t block = 0, tile = 0;

  for (size_t i = 0; i < sizeof blocks / sizeof *blocks + 1; i++) {
    double cached, moved, time;

    w->wave.block = i < sizeof blocks / sizeof *blocks ? blocks[i] : rows;
    if (w->wave.block > rows || !fit_tile(m, w)) continue;
    weigh(m, w, &cached, &moved);
    time = time_wave(m, w, moved);
    if (best >= 0 && time >= best) continue;
    best = time;
    block = w->wave.block;
    tile = w->wave.tile;
  }
  w->wave.block = block;
  w->wave.tile = tile;
  return best;
}

/* With a given depth, a wave is made even if it does not fit in the cache. */
static void force(const problem *m, ambit__wavefront *w)
{
  const int64_t rows = m->p->grid->box.hi[0];

  w->wave.block = rows < 8 ? rows : 8;
  w->wave.tile = 0;
}

static bool has_room(const ambit_program *p, const ambit__wavefront *w)
{
  return !w->wave.wraps || p->grid->box.hi[0] >= w->wave.least;
}

/* Tries one depth: keeps the wavefront if it is the best so far. */
static ambit_status try_depth(const problem *m, int depth, bool forced, double *best,
                              ambit__dataflow *flow, ambit__wavefront *w)
{
  ambit__dataflow f;
  ambit__wavefront one = {0};
  ambit_status s = ambit__dataflow_make(m->p, depth, &f);
  double time = -1;

  if (!s) s = ambit__wavefront_make(m->p, &f, &one);
  if (!s && has_room(m->p, &one)) time = fit(m, &one);
  if (!s && forced && time < 0 && has_room(m->p, &one)) {
    force(m, &one);
    time = *best;
  }
  if (!s && time >= 0 && (forced || time < *best)) {
    ambit__dataflow_free(flow);
    ambit__wavefront_free((ambit_program *)m->p, w);
    *best = time;
    *flow = f;
    *w = one;
    return AMBIT_OK;
  }
  ambit__dataflow_free(&f);
  ambit__wavefront_free((ambit_program *)m->p, &one);
  return s;
}

ambit_status ambit__wavefront_choose(const ambit_program *p, int depth, ambit__dataflow *flow,
                                     ambit__wavefront *w)
{
  const problem m = problem_of(p);
  const double single = time_single(&m);
  double best = single * LEAST_GAIN;

  *flow = (ambit__dataflow){0};
  *w = (ambit__wavefront){0};
  if (depth) return try_depth(&m, depth, true, &best, flow, w);
  for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
    AMBIT_TRY(try_depth(&m, depths[i], false, &best, flow, w));
  w->expected = best / single;
  return AMBIT_OK;
}
