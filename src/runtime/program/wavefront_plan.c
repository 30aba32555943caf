/* SPDX-License-Identifier: BSD-3-Clause */
/* wavefront_plan.c - depth, block, tile and strip of a wavefront: those with the least time by the
 * model. */
#include "base/memory.h"
#include "plan/fitted.h"
#include "runtime/program/roles.h"
#include "runtime/program/wavefront_model.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const double SMALL_PART = 2; /* most of the second-level cache, of a part of several */

enum {
  STRIP_UNIT = 64,   /* cells */
  MOST_STAGES = 8192 /* of waves that nobody asked for: to weigh them takes time, too */
};

static const int depths[] = {1, 2, 4, 8, 16, 32};
enum { DEPTHS = sizeof depths / sizeof *depths };
static const int64_t blocks[] = {4, 8, 16, 32, 64};
/* Tiles of three dimensions that may be in the third-level cache, their longest block and largest
 * depth: with 16 planes or 8 iterations stars of radius 4 were slower on 16 Xeon cores. Rivals may
 * have 8 iterations in small tiles: so the star of radius 2 in double was fastest. */
static const int64_t wide_tiles[] = {16, 32}, narrow_tile = 8;
enum { WIDE_BLOCK = 8, WIDE_DEPTH = 4, RIVAL_BLOCK = 4, RIVAL_DEPTH = 8 };

typedef ambit__wavefront_problem problem;

/* Whether an axis can be cut into pieces of this size. */
static bool can_cut(const problem *m, const ambit__wavefront *w, int axis, int64_t size)
{
  return !size || (!m->is_whole && !(w->wraps >> axis & 1) &&
                   (axis < m->p->grid->box.ndims - 1 || size % AMBIT__ALIGNED == 0));
}

/* The tile that a plan asks for; returns false if there is no such. */
static bool take_tile(const problem *m, ambit__wavefront *w)
{
  w->wave.size.tile = m->wish.size.tile;
  return can_cut(m, w, 1, w->wave.size.tile);
}

/* Whether threads wait for memory that others use, so that strips pay: they spread its traffic over
 * the time of a pass. Threads of 16 Xeon cores on 8192^2 floats are 1.4 times as fast with strips;
 * on fields in the third-level cache they are 1.2 times as slow, and so is one thread alone, of
 * fields in memory, too (strips of 64 cells and two steps: 1.5 times). */
static bool is_crowded(const problem *m)
{
  return ambit__wavefront_is_from_memory(m) &&
         ambit__machine_copy(m->machine, m->threads) < m->machine->alone;
}

/* Strips of two dimensions, of which all rows that a stage reads and writes take a part of the
 * first-level cache; 0: none, or what a plan asks for. */
static int64_t strip_for(const problem *m, const ambit__wavefront *w)
{
  const double rows = (double)(w->wave.size.block + m->reach);
  const int64_t cells = (int64_t)(AMBIT__FIT_L1 * (double)m->machine->l1 / (m->touched * rows));

  if (m->wish.size.strip >= 0) return m->wish.size.strip;
  if (m->is_whole || !m->info.short_rows || m->p->grid->box.ndims > 2 ||
      w->wave.size.block != AMBIT__ROWS_TOGETHER || !is_crowded(m))
    return 0;
  return cells / STRIP_UNIT * STRIP_UNIT;
}

/* Tiles that fit in the cache with this block; returns false if not even the narrowest does. In
 * three dimensions narrow ones may take more of the cache: the edges of 4 rows are twice as
 * long. */
static bool fit_tile(const problem *m, ambit__wavefront *w)
{
  const bool cuts_rows = m->p->grid->box.ndims == 2;
  const int64_t unit = cuts_rows ? 512 : 4, columns = m->columns;
  const double room = ambit__wavefront_room(m);
  double cached, moved, narrow;

  if (m->wish.size.tile >= 0) return take_tile(m, w);
  w->wave.size.tile = 0;
  ambit__wavefront_weigh(m, w, &cached, &moved);
  if (cached <= room) return true;
  if (!can_cut(m, w, 1, unit)) return false;
  w->wave.size.tile = unit;
  ambit__wavefront_weigh(m, w, &narrow, &moved);
  if (narrow > room) return false;
  w->wave.size.tile = 2 * unit;
  ambit__wavefront_weigh(m, w, &cached, &moved);
  w->wave.size.tile = unit * (int64_t)(1 + (room - narrow) / (cached - narrow));
  if (!cuts_rows && w->wave.size.tile == unit && cached <= AMBIT__FIT_L2 * (double)m->machine->l2)
    w->wave.size.tile = 2 * unit;
  if (w->wave.size.tile >= columns) w->wave.size.tile = 0;
  return true;
}

/* Takes the sizes of a wave if its blocks fit in a cache and it is faster than *best. */
static void compare(const problem *m, const ambit__wavefront *w, double room,
                    ambit__wave_sizes *sizes, double *best)
{
  double cached, moved, time;

  ambit__wavefront_weigh(m, w, &cached, &moved);
  time = ambit__wavefront_time(m, w, cached, moved);
  if (cached > room || (*best >= 0 && time >= *best)) return;
  *best = time;
  *sizes = w->wave.size;
}

/* Whether blocks that fit in the third-level cache only are worth a try. */
static bool can_spill(const problem *m, const ambit__wavefront *w)
{
  const bool wide = w->wave.iterations <= WIDE_DEPTH && w->wave.size.block <= WIDE_BLOCK;
  const bool narrow =
      m->is_rival && w->wave.iterations <= RIVAL_DEPTH && w->wave.size.block <= RIVAL_BLOCK;

  return m->p->grid->box.ndims > 2 && m->wish.size.tile < 0 && (wide || narrow) &&
         ambit__wavefront_is_from_memory(m) && !m->is_whole;
}

/* Chooses the tile of a wave with its block and strip, and takes it if it is faster than *best. */
static void try_sizes(const problem *m, ambit__wavefront *w, ambit__wave_sizes *sizes, double *best)
{
  const double room = AMBIT__FIT_L3 * (double)m->machine->l3 / m->threads;
  const bool wide = w->wave.iterations <= WIDE_DEPTH, cuts = can_cut(m, w, 1, narrow_tile);
  const int64_t *tiles = wide ? wide_tiles : &narrow_tile;
  const size_t n = wide && cuts ? sizeof wide_tiles / sizeof *wide_tiles : 1;

  if (!can_cut(m, w, m->p->grid->box.ndims - 1, w->wave.size.strip)) return;
  if (fit_tile(m, w)) {
    compare(m, w, HUGE_VAL, sizes, best);
    return;
  }
  for (size_t i = 0; can_spill(m, w) && i < n; i++) {
    w->wave.size.tile = cuts ? tiles[i] : 0;
    if (w->wave.size.tile < m->columns) compare(m, w, room, sizes, best);
  }
}

/* Chooses the sizes of a wave; returns its time, less than 0 if nothing fits. */
static double fit(const problem *m, ambit__wavefront *w)
{
  const int64_t rows = m->rows, wish = m->wish.size.block;
  ambit__wave_sizes sizes = {0};
  double best = -1;

  for (size_t i = 0; i < sizeof blocks / sizeof *blocks + 1 && (!wish || i < 1); i++) {
    int64_t *block = &w->wave.size.block, *strip = &w->wave.size.strip;

    *block = wish ? wish : i < sizeof blocks / sizeof *blocks ? blocks[i] : rows;
    if (!wish && *block > rows) continue;
    *strip = strip_for(m, w);
    try_sizes(m, w, &sizes, &best);
    if (!*strip || m->wish.size.strip >= 0) continue;
    *strip = 0;
    try_sizes(m, w, &sizes, &best);
  }
  w->wave.size = sizes;
  return best;
}

/* With a given depth, a wave is made even if it does not fit in the cache. */
static void force(const problem *m, ambit__wavefront *w)
{
  const int64_t rows = m->rows;

  w->wave.size = (ambit__wave_sizes){.block = m->wish.size.block > 0 ? m->wish.size.block
                                              : rows < 8             ? rows
                                                                     : 8};
}

static bool has_room(const ambit_program *p, const ambit__wavefront *w)
{
  return !w->wave.wraps || p->grid->box.hi[0] >= w->wave.least;
}

/* The wavefront of one depth, and its time; less than 0: there is none. */
static ambit_status make(const problem *m, int depth, ambit__flow *flow, ambit__wavefront *w,
                         double *time)
{
  *time = -1;
  AMBIT_TRY(ambit__memory_flow_make(m->p, depth, flow));
  AMBIT_TRY(ambit__wavefront_make(m->p, flow, &m->own, w));
  if (has_room(m->p, w)) *time = fit(m, w);
  return AMBIT_OK;
}

static void discard(ambit__flow *flow, ambit__wavefront *w)
{
  ambit__flow_free(flow);
  ambit__wavefront_free(w);
}

/* The wavefront of a depth that was asked for. */
static ambit_status make_forced(const problem *m, int depth, ambit__flow *flow, ambit__wavefront *w)
{
  double time;

  AMBIT_TRY(make(m, depth, flow, w, &time));
  w->expected = time < 0 ? 1 : time / ambit__wavefront_time_single(m);
  if (time < 0 && has_room(m->p, w))
    force(m, w);
  else if (time < 0)
    discard(flow, w);
  return AMBIT_OK;
}

bool ambit__wavefront_pays(const ambit__wavefront *w)
{
  return w->expected <= AMBIT__FIT_WAVE;
}

/* Whether a depth is worth the time to weigh it. */
static bool is_weighed(const problem *m, int depth)
{
  if (depth > ambit__program_calmest(m->p)) return false;
  if ((depth == 1) != ambit__roles_first(m->p)) return false;
  return m->wish.any || (size_t)depth * m->p->nsteps <= MOST_STAGES;
}

/* Times by depth; 0: not worthwhile. Twice the depth takes twice as long to weigh, so none is
 * weighed beyond one that does not fit, or is slower than the one before. */
static ambit_status time_depths(const problem *m, double single, double *times, double *best)
{
  double before = HUGE_VAL;

  *best = 0;
  for (int i = 0; i < DEPTHS; i++)
    times[i] = 0;
  for (int i = 0; i < DEPTHS && before >= 0; i++) {
    ambit__flow flow = {0};
    ambit__wavefront w = {0};
    ambit_status s;
    double time;

    if (!is_weighed(m, depths[i])) continue;
    s = make(m, depths[i], &flow, &w, &time);
    discard(&flow, &w);
    AMBIT_TRY(s);
    if (time >= 0 && (m->wish.any || time <= AMBIT__FIT_WAVE * single)) times[i] = time;
    if (times[i] > 0 && (*best <= 0 || times[i] < *best)) *best = times[i];
    before = time > before ? -1 : time;
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
         m->touched * m->cells <= SMALL_PART * (double)m->machine->l2;
}

ambit_status ambit__wavefront_choose(const ambit_program *p, int depth, ambit__flow *flow,
                                     ambit__wavefront *w)
{
  const problem m = ambit__wavefront_problem_of(p);
  const double single = ambit__wavefront_time_single(&m);
  double times[DEPTHS], best;

  *flow = (ambit__flow){0};
  *w = (ambit__wavefront){0};
  if (!depth && !m.wish.any && !is_worth_trying(&m)) return AMBIT_OK;
  if (depth) return make_forced(&m, depth, flow, w);
  AMBIT_TRY(time_depths(&m, single, times, &best));
  for (int i = 0; i < DEPTHS && !w->stages; i++)
    if (times[i] > 0 && times[i] <= AMBIT__FIT_NEARLY * best) {
      AMBIT_TRY(make(&m, depths[i], flow, w, &times[i]));
      w->expected = times[i] / single;
    }
  w->single = single;
  return AMBIT_OK;
}

double ambit__wavefront_expected(const ambit__wavefront *w)
{
  return (w->stages ? w->expected : 1) * w->single;
}

ambit_status ambit__wavefront_rival(const ambit_program *p, const ambit__wavefront *w,
                                    ambit__rival *rival)
{
  const int chosen = w->stages ? w->wave.iterations : 1;
  problem m = ambit__wavefront_problem_of(p);
  const double time = ambit__wavefront_expected(w);
  double best = -1;

  m.is_rival = true;
  for (int i = 0; i < DEPTHS; i++) {
    ambit__flow flow = {0};
    ambit__wavefront other = {0};
    const bool is_other = depths[i] != chosen && is_weighed(&m, depths[i]);
    double now = -1;
    const ambit_status s = is_other ? make(&m, depths[i], &flow, &other, &now) : AMBIT_OK;

    if (!s && ambit__rival_is_close(now, time) && (best < 0 || now < best)) {
      best = now;
      rival->depth = depths[i];
      ambit__wavefront_print_sizes(depths[i], &other.wave.size, rival->plan, sizeof rival->plan);
    }
    discard(&flow, &other);
    AMBIT_TRY(s);
  }
  return AMBIT_OK;
}
