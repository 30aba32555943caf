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
#include <unistd.h>

/* Bytes per nanosecond of one thread: from memory, of which all threads together have ALL, from a
 * cache shared by all cores, and from the core's own; operations per nanosecond. Nanoseconds to
 * start all threads, for a call, and for a row that a tile begins with. Measured on 2 and 16 Xeon
 * cores; rather in favour of waves, which are tried before they are kept. */
static const double MEMORY = 22, ALL = 140, SHARED = 44, OWN = 43, WORK = 64;
static const double START = 1500, CALL = 60, ROW = 200;
static const double EXCHANGE = 10000; /* nanoseconds for messages, in an iteration or a pass */

static const double PASS = 1.5;         /* speed of memory in a pass, over that in a launch */
static const double UNHIDDEN = 0.35;    /* of the shorter of memory and core, in a launch */
static const double CACHE_SHARE = 0.75; /* of the second-level cache, for the cells of a block */
static const double LEAST_GAIN = 0.9;   /* of the time, to prefer a wave */
static const double NEARLY = 1.1;       /* of the least time: the smallest such depth is taken */
static const double SMALL_PART = 2;     /* most of the second-level cache, of a part of several */

enum {
  CELLS_PER_THREAD = 8192, /* much fewer are left to fewer threads */
  ROWS_TOGETHER = 8,       /* computed by the functions of steps */
  DEEPEST = 8              /* no deeper wave was faster where fields are larger than the caches */
};

static const int depths[] = {2, 4, 8, 16, 32};
enum { DEPTHS = sizeof depths / sizeof *depths };
static const int64_t blocks[] = {4, 8, 16, 32, 64};

/* The problem, as far as the model is concerned. Bytes and work are those of one cell of the grid
 * in one iteration. */
typedef struct problem {
  const ambit_program *p;
  ambit__device_info info;
  ambit__box own;        /* of the largest part */
  int64_t rows, columns; /* its extents along the first two axes */
  double cells;          /* of it */
  double rest;           /* cells of one row of the wave's next axis: all axes after it */
  double bytes;          /* read and written by single launches */
  double written;        /* of these */
  double again;    /* bytes read, times the rows or planes beside the first that they are read in */
  double work;     /* operations */
  double touched;  /* bytes of all buffers */
  int launches;    /* of an iteration */
  double exchange; /* ns of an iteration or pass for messages between processes */
  ambit__wavefront_wish wish;
  double threads; /* that work on a launch */
} problem;

/* Adds the bytes that one cell of a step writes, and those that it reads in other rows or planes of
 * the first axis. */
static void add_traffic(const ambit__rule *rule, double share, problem *m)
{
  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *q = &rule->params[i];
    const double size = (double)ambit_type_size(q->type) * q->components * share;

    if (q->kind != PARAM_FIELD) continue;
    if (q->is_written) m->written += size;
    m->again += size * (double)(q->low[0] + q->high[0]);
  }
}

static ambit__box largest_part(const ambit_grid *g)
{
  ambit__box best = g->parts[0];

  for (int i = 1; i < g->nparts; i++)
    if (ambit__box_volume(&g->parts[i]) > ambit__box_volume(&best)) best = g->parts[i];
  return best;
}

static problem problem_of(const ambit_program *p)
{
  ambit__device *dev = p->grid->context->engines[0].device;
  problem m = {.p = p,
               .own = largest_part(p->grid),
               .rest = 1,
               .exchange = p->grid->context->net->size > 1 ? EXCHANGE : 0,
               .wish = ambit__wavefront_read(ambit__program_cycle_plan(p))};

  m.cells = (double)ambit__box_volume(&m.own);
  m.rows = m.own.hi[0] - m.own.lo[0];
  m.columns = m.own.hi[1] - m.own.lo[1];
  dev->backend->info(dev, &m.info);
  m.threads = floor(m.cells / CELLS_PER_THREAD + 0.5);
  if (m.threads > m.info.cores) m.threads = m.info.cores;
  if (m.threads < 1) m.threads = 1;
  for (int d = 2; d < p->grid->box.ndims; d++)
    m.rest *= (double)(m.own.hi[d] - m.own.lo[d]);
  for (size_t i = 0; i < p->nsteps; i++) {
    ambit__price price;
    double share;

    if (p->steps[i].kind != STEP_APPLY || ambit__box_is_empty(&p->applies[i].region)) continue;
    price = ambit__price_of(p->steps[i].kernel->rule);
    share =
        (double)ambit__box_volume(&p->applies[i].region) / (double)ambit__box_volume(&p->grid->box);
    m.bytes += price.bytes * share;
    m.work += price.flops * share;
    add_traffic(p->steps[i].kernel->rule, share, &m);
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
  const int64_t columns = m->columns;

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

static double least(double a, double b)
{
  return a < b ? a : b;
}

static double most(double a, double b)
{
  return a > b ? a : b;
}

/* Nanoseconds of one thread to move a byte from and to where the fields are. */
static double slowness(const problem *m)
{
  const double all = m->touched * m->cells;

  if (all <= CACHE_SHARE * m->threads * (double)m->info.l2) return 0;
  if (all <= CACHE_SHARE * (double)m->info.l3) return 1 / SHARED;
  return 1 / least(MEMORY, ALL / m->threads);
}

/* Nanoseconds of a core for a cell in its cache, computed in boxes of some rows or planes. In two
 * dimensions several rows are computed together, and share their reads. */
static double core_time(const problem *m, double rows)
{
  const double together = m->p->grid->box.ndims > 2 ? 1 : least(rows, ROWS_TOGETHER);

  return most(m->work / WORK, (m->bytes + m->again / together) / OWN);
}

/* Nanoseconds of an iteration by single launches, and in a wave. */
static double time_single(const problem *m)
{
  const double core = core_time(m, ROWS_TOGETHER), memory = m->bytes * slowness(m);
  const double cell = most(core, memory) + UNHIDDEN * least(core, memory);

  return m->cells * cell / m->threads + (m->threads > 1 ? m->launches * START : 0) + m->exchange;
}

/* The cells that a wave computes for each of the part's own. */
static double again(const problem *m, const ambit__wavefront *w)
{
  double own = 0;

  for (int i = 0; i < w->wave.n; i++) {
    const ambit__box cells = ambit__box_intersect(&w->stages[i].cells, &m->own);

    if (!w->fronts[i].ghosts) own += (double)ambit__box_volume(&cells);
  }
  return own > 0 ? w->wave.cells / own : 1;
}

static double time_wave(const problem *m, const ambit__wavefront *w, double moved)
{
  const double depth = w->wave.iterations;
  const double cell = core_time(m, (double)w->wave.block) + moved / depth * slowness(m) / PASS;
  const double columns = (double)m->columns, rows = (double)m->rows;
  const double tiles = w->wave.tile ? columns / (double)w->wave.tile + 1 : 1;
  const double calls = w->wave.n / depth * tiles * (rows / (double)w->wave.block + 1);
  const double cut = w->wave.tile && m->p->grid->box.ndims == 2 ? m->launches * tiles * rows : 0;

  return (m->cells * again(m, w) * cell + calls * CALL + cut * ROW) / m->threads +
         (m->threads > 1 ? 2 * START / depth : 0) + m->exchange / depth;
}

/* ---- the choice ---- */

/* The tile that a plan asks for; returns false if there is no such. */
static bool take_tile(const problem *m, ambit__wavefront *w)
{
  const int64_t tile = m->wish.tile;

  w->wave.tile = tile;
  return !tile || (!ambit__wavefront_wraps(w, 1) &&
                   (m->p->grid->box.ndims > 2 || tile % AMBIT__ALIGNED == 0));
}

/* Tiles that fit in the cache with this block; returns false if not even the narrowest does. */
static bool fit_tile(const problem *m, ambit__wavefront *w)
{
  const bool cuts_rows = m->p->grid->box.ndims == 2;
  const int64_t unit = cuts_rows ? 512 : 4, columns = m->columns;
  const double room = CACHE_SHARE * (double)(m->info.l2 ? m->info.l2 : 1 << 20);
  double cached, moved, narrow;

  if (m->wish.tile >= 0) return take_tile(m, w);
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
  const int64_t rows = m->rows;
  double best = -1;
  int64_t block = 0, tile = 0;

  for (size_t i = 0; i < sizeof blocks / sizeof *blocks + 1; i++) {
    double cached, moved, time;

    w->wave.block = i < sizeof blocks / sizeof *blocks ? blocks[i] : rows;
    if (m->wish.block > 0 && i > 0) break;
    if (m->wish.block > 0) w->wave.block = m->wish.block;
    if ((!m->wish.block && w->wave.block > rows) || !fit_tile(m, w)) continue;
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
  const int64_t rows = m->rows;

  w->wave.block = m->wish.block > 0 ? m->wish.block : rows < 8 ? rows : 8;
  w->wave.tile = 0;
}

static bool has_room(const ambit_program *p, const ambit__wavefront *w)
{
  return !w->wave.wraps || p->grid->box.hi[0] >= w->wave.least;
}

/* The wavefront of one depth, and its time; less than 0: there is none. */
static ambit_status make(const problem *m, int depth, ambit__dataflow *flow, ambit__wavefront *w,
                         double *time)
{
  *time = -1;
  AMBIT_TRY(ambit__dataflow_make(m->p, depth, flow));
  AMBIT_TRY(ambit__wavefront_make(m->p, flow, &m->own, w));
  if (has_room(m->p, w)) *time = fit(m, w);
  return AMBIT_OK;
}

static void discard(const problem *m, ambit__dataflow *flow, ambit__wavefront *w)
{
  ambit__dataflow_free(flow);
  ambit__wavefront_free((ambit_program *)m->p, w);
  *flow = (ambit__dataflow){0};
}

/* The wavefront of a depth that was asked for. */
static ambit_status make_forced(const problem *m, int depth, ambit__dataflow *flow,
                                ambit__wavefront *w)
{
  double time;

  AMBIT_TRY(make(m, depth, flow, w, &time));
  w->expected = time < 0 ? 1 : time / time_single(m);
  if (time < 0 && has_room(m->p, w))
    force(m, w);
  else if (time < 0)
    discard(m, flow, w);
  return AMBIT_OK;
}

bool ambit__wavefront_pays(const ambit__wavefront *w)
{
  return w->expected <= LEAST_GAIN;
}

/* Times by depth; 0: not worthwhile. */
static ambit_status time_depths(const problem *m, double single, double *times, double *best)
{
  *best = 0;
  for (int i = 0; i < DEPTHS; i++)
    times[i] = 0;
  for (int i = 0; i < DEPTHS && (depths[i] <= DEEPEST || !slowness(m)); i++) {
    ambit__dataflow flow = {0};
    ambit__wavefront w = {0};
    const ambit_status s = make(m, depths[i], &flow, &w, &times[i]);

    discard(m, &flow, &w);
    AMBIT_TRY(s);
    if (times[i] < 0 || (!m->wish.any && times[i] > LEAST_GAIN * single)) times[i] = 0;
    if (times[i] > 0 && (*best <= 0 || times[i] < *best)) *best = times[i];
  }
  return AMBIT_OK;
}

/* With several parts a wave saves messages between processes. That pays off where each process has
 * a core of its own, and little to compute beside its messages; larger parts were slower in waves,
 * and with the wider margins that these need. Parts of one process have no messages. */
static bool is_worth_trying(const problem *m)
{
  const ambit__net *net = m->p->grid->context->net;

  if (m->p->grid->nparts == 1) return true;
  return m->p->grid->nparts == net->size && sysconf(_SC_NPROCESSORS_ONLN) >= net->local_size &&
         m->touched * m->cells <= SMALL_PART * (double)m->info.l2;
}

ambit_status ambit__wavefront_choose(const ambit_program *p, int depth, ambit__dataflow *flow,
                                     ambit__wavefront *w)
{
  const problem m = problem_of(p);
  const double single = time_single(&m);
  double times[DEPTHS], best;

  *flow = (ambit__dataflow){0};
  *w = (ambit__wavefront){0};
  if (!depth && !m.wish.any && !is_worth_trying(&m)) return AMBIT_OK;
  if (depth) return make_forced(&m, depth, flow, w);
  AMBIT_TRY(time_depths(&m, single, times, &best));
  for (int i = 0; i < DEPTHS; i++)
    if (times[i] > 0 && times[i] <= NEARLY * best) {
      AMBIT_TRY(make(&m, depths[i], flow, w, &times[i]));
      w->expected = times[i] / single;
      return AMBIT_OK;
    }
  return AMBIT_OK;
}
