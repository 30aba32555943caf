/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/program/wavefront_model.h"

#include "plan/fitted.h"

#include <math.h>

static const double EXCHANGE = 10000; /* nanoseconds for messages, in an iteration or a pass */

enum { CELLS_PER_THREAD = 8192 }; /* much fewer are left to fewer threads */

typedef ambit__wavefront_problem problem;

/* Bytes of the second-level cache, or of a small one if its size is not known. */
static double l2_bytes(const problem *m)
{
  return (double)(m->machine->l2 ? m->machine->l2 : 1 << 20);
}

/* The layers of cells along all axes before the last three that a launch reads again, where those
 * between the first and the last read do not fit in a cache: functions have blocks of the last
 * three axes only. */
static double far_reads(const ambit__param *q, const problem *m)
{
  double layers = 0, cells = 1;

  for (int d = m->own.ndims - 1; d >= 0; d--) {
    const double reach = (double)(q->low[d] + q->high[d]);

    if (d < m->own.ndims - 3 && (1 + reach) * cells * m->touched > AMBIT__FIT_L2 * l2_bytes(m))
      layers += reach;
    cells *= (double)(m->own.hi[d] - m->own.lo[d]);
  }
  return layers;
}

/* Adds the bytes that a step reads again. */
static void add_traffic(const ambit__rule *rule, const ambit__binding *bind, double share,
                        problem *m)
{
  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *q = &rule->params[i];
    const double size = (double)ambit_type_size(q->type) * q->components * share;

    if (q->kind != PARAM_FIELD || bind[i].dropped) continue;
    m->far += size * far_reads(q, m);
    m->again += size * (double)(q->low[0] + q->high[0]);
    if (m->reach < q->low[0] + q->high[0]) m->reach = q->low[0] + q->high[0];
  }
}

static ambit__box largest_part(const ambit_grid *g)
{
  ambit__box best = g->parts[0];

  for (int i = 1; i < g->nparts; i++)
    if (ambit__box_volume(&g->parts[i]) > ambit__box_volume(&best)) best = g->parts[i];
  return best;
}

problem ambit__wavefront_problem_of(const ambit_program *p)
{
  ambit__device *dev = p->grid->context->engines[0].device;
  problem m = {.p = p,
               .machine = &dev->machine,
               .own = largest_part(p->grid),
               .rest = 1,
               .exchange = p->grid->context->net->size > 1 ? EXCHANGE : 0,
               .wish = ambit__wavefront_read(ambit__program_cycle_plan(p))};

  m.cells = (double)ambit__box_volume(&m.own);
  m.rows = m.own.hi[0] - m.own.lo[0];
  m.columns = m.own.hi[1] - m.own.lo[1];
  m.row = fmax(1, (double)(m.own.hi[p->grid->box.ndims - 1] - m.own.lo[p->grid->box.ndims - 1]));
  dev->backend->info(dev, &m.info);
  m.threads = floor(m.cells / CELLS_PER_THREAD + 0.5);
  if (m.threads > m.info.cores) m.threads = m.info.cores;
  if (m.threads < 1) m.threads = 1;
  for (int d = 2; d < p->grid->box.ndims; d++)
    m.rest *= (double)(m.own.hi[d] - m.own.lo[d]);
  for (int i = 0; i < p->nfields; i++)
    if (!p->fields[i]->dropped)
      m.touched += (double)ambit_type_size(p->fields[i]->type) * p->fields[i]->components;
  for (size_t i = 0; i < p->nsteps; i++) {
    ambit__binding bind[AMBIT_MAX_PARAMS] = {{0}};
    ambit__price price;
    double share;

    if (p->steps[i].kind != STEP_APPLY || ambit__box_is_empty(&p->applies[i].region)) continue;
    if (p->applies[i].role != ROLE_STAGE) continue;
    if (p->steps[i].chore) continue; /* few cells */
    m.is_whole |= ambit__step_changes_profiles(p, &p->steps[i]);
    ambit__step_bind(p, &p->steps[i], bind);
    price = ambit__price_bound(ambit__step_rule(p, i), bind, p->grid->box.ndims);
    share =
        (double)ambit__box_volume(&p->applies[i].region) / (double)ambit__box_volume(&p->grid->box);
    m.bytes += price.bytes * share;
    m.work +=
        dev->machine.cores * ambit__price_work(&price, &dev->machine, AMBIT__FIT_WORK) * share;
    add_traffic(p->steps[i].kernel->rule, bind, share, &m);
    if (share > m.share) m.share = share;
    m.launches++;
  }
  return m;
}

/* Cells of a buffer along an axis that the stages need at once, less one block or tile. */
static double spread(const ambit__spread *s, int axis)
{
  return (double)(s->last[axis] - s->first[axis]);
}

void ambit__wavefront_weigh(const problem *m, const ambit__wavefront *w, double *cached,
                            double *moved)
{
  const int64_t columns = m->columns;

  *cached = *moved = 0;
  for (int i = 0; i < m->p->nfields; i++) {
    const ambit_field *f = m->p->fields[i];
    const double size = (double)ambit_type_size(f->type) * f->components;
    const ambit__spread *s = &w->spreads[i];
    const double rows = (double)w->wave.size.block + spread(s, 0);
    const double over = w->wave.size.tile ? spread(s, 1) : 0;
    const double width = w->wave.size.tile ? (double)w->wave.size.tile : (double)columns;

    *cached += size * rows * (width + over) * m->rest;
    *moved += m->share * size * (s->written ? 2 : 1) * (1 + over / width);
  }
}

/* Nanoseconds of one of so many threads to move a byte from and to where the fields are. A
 * third-level cache counts where its speed was measured here: in a virtual machine it has the size
 * of the host's, which others use, too, and a wave that is wrong for that is given up when it is
 * tried. A phase field in half of such a cache took 1.2 ns per cell, by the recorded speed 0.3, in
 * a wave 0.8. */
static double slowness(const problem *m, double threads)
{
  const double all = m->touched * m->cells;

  if (all <= AMBIT__FIT_L2 * m->threads * (double)m->machine->l2) return 0;
  if (m->machine->measured && !ambit__wavefront_is_from_memory(m))
    return m->machine->cores / m->machine->copy3;
  return 1 / ambit__machine_copy(m->machine, threads);
}

/* Nanoseconds to start so many threads. */
static double start_time(const problem *m, double threads)
{
  const double all = fmax(AMBIT__FIT_FEW, m->machine->cores);

  return threads > 1 ? m->machine->launch * fmax(AMBIT__FIT_FEW, threads) / all : 0;
}

/* Nanoseconds of a core for a cell in its cache, computed in boxes of some rows or planes. In two
 * dimensions several rows are computed together, and share their reads. */
static double core_time(const problem *m, double rows, bool strips)
{
  const double together =
      fmin(rows, m->p->grid->box.ndims > 2 ? AMBIT__PLANES_TOGETHER : AMBIT__ROWS_TOGETHER);
  const double own = m->machine->copy2 / m->machine->cores; /* bytes per nanosecond */

  return m->launches * m->machine->chain * AMBIT__FIT_START / m->row +
         (strips ? m->work : fmax(m->work, (m->bytes + m->again / together) / own));
}

double ambit__wavefront_room(const problem *m)
{
  return (m->p->grid->box.ndims > 2 ? AMBIT__FIT_L2_PLANES : AMBIT__FIT_L2) * l2_bytes(m);
}

bool ambit__wavefront_is_from_memory(const problem *m)
{
  return m->machine->l3 && m->touched * m->cells > m->machine->kept;
}

/* The cells of a block that do not fit in the second-level cache come from the next one in every
 * stage. */
static double spill_time(const problem *m, double block, double cached)
{
  const double room = AMBIT__FIT_L2 * l2_bytes(m);
  const double speed = AMBIT__FIT_SPILL * m->machine->copy3 / m->machine->cores;

  return cached > room ? (1 - room / cached) * (m->bytes + m->again / block) / speed : 0;
}

/* In three dimensions each launch reads the planes beside those that it computes together again
 * from where the fields are: single iterations of stars take 1.3 to 1.9 times as long as in two. */
double ambit__wavefront_time_single(const problem *m)
{
  const double beside = m->p->grid->box.ndims > 2 ? m->again / AMBIT__PLANES_TOGETHER : 0;
  const double core = core_time(m, AMBIT__ROWS_TOGETHER, false),
               memory = (m->bytes + beside + m->far) * slowness(m, m->threads);
  const double cell = fmax(core, memory) + AMBIT__FIT_UNHIDDEN * fmin(core, memory);

  return m->cells * cell / m->threads + m->launches * start_time(m, m->threads) + m->exchange;
}

/* The cells that a wave computes for each of the part's own. */
static double again(const ambit__wavefront *w)
{
  return w->own_cells > 0 ? w->wave.cells / w->own_cells : 1;
}

/* The threads that share a pass: each owns at least the rows or planes that the lags need. */
static double owners(const problem *m, const ambit__wavefront *w)
{
  const int64_t room = w->wave.least ? m->rows / w->wave.least : m->rows;

  return fmax(1, fmin(m->threads, (double)room));
}

double ambit__wavefront_time(const problem *m, const ambit__wavefront *w, double cached,
                             double moved)
{
  const double depth = w->wave.iterations, threads = owners(m, w);
  const ambit__wave_sizes *size = &w->wave.size;
  const double block = (double)size->block;
  const double ends = m->launches * m->machine->chain * AMBIT__FIT_ENDS / m->row;
  const double cell = core_time(m, block, size->strip > 0) + ends + spill_time(m, block, cached) +
                      moved / depth * slowness(m, threads) / AMBIT__FIT_PASS;
  const double columns = (double)m->columns, rows = (double)m->rows;
  const double tiles = w->wave.size.tile ? columns / (double)w->wave.size.tile + 1 : 1;
  const double width = size->tile ? (double)size->tile : columns;
  const double strips = size->strip ? width / (double)size->strip + 1 : 1;
  const double calls = w->wave.n / depth * tiles * strips * (rows / block + 1);
  const double cut =
      w->wave.size.tile && m->p->grid->box.ndims == 2 ? m->launches * tiles * rows : 0;

  return (m->cells * again(w) * cell +
          m->machine->chain * (calls * AMBIT__FIT_CALL + cut * AMBIT__FIT_ROW)) /
             threads +
         2 * start_time(m, threads) / depth + m->exchange / depth;
}
