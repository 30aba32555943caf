/* SPDX-License-Identifier: BSD-3-Clause */
/* fused.c - on a GPU: several iterations in one pass over memory.
 *
 * A warp owns a strip of the grid and advances along it, row by row. All stages of all iterations
 * keep the rows they need in registers. Values are loaded once and stored once per launch, and the
 * cells beside a tile are computed again by its neighbours. See docs/design/0013-fused.md.
 *
 *   (fused sum 4x12 ahead 2 warps 4 resident 3)
 *   (fused sum 4x2x4 lanes 16 ahead 1 warps 16 resident 1)
 *
 * The numbers are: cells of a lane, in three dimensions its rows, iterations, lanes of a group,
 * rows or planes loaded ahead, warps per block, blocks per multiprocessor.
 */
#include "plan/fused.h"
#include "plan/fitted.h"
#include "plan/registers.h"

#include <math.h>
#include <stdlib.h>

extern const char ambit__prelude_aims[]; /* embedded by the build */

enum {
  WARPS = 4, /* per block, in two dimensions */
  MOST_REGISTERS = 250,
  BUSY_BLOCKS = 3,        /* per multiprocessor, in two dimensions: FEW_WARPS */
  SPARE_REGISTERS = 28,   /* of an estimate: compilers can do without */
  BLOCK_SHARED = 1 << 10, /* bytes of shared memory that a block needs anyway */
  MOST_RESIDENT = 8,
  FEW_WARPS = 12 /* fewer per multiprocessor are too few */
};

/* Time of a cell where warps cannot exchange values by themselves: single iterations are preferred,
 * unless several are asked for. */
static const double UNMEASURED_NS = 1e3;

static bool fields_fit(const ambit__group *g)
{
  const ambit__rule *rule = g->rule;

  for (int i = 0; i < rule->nparams; i++) {
    const ambit__binding *b = &g->bind[i];

    if (rule->params[i].kind == PARAM_FIELD &&
        (!(b->contiguous || ambit__binding_is_uniform(b, g->ndims)) || b->packed || b->shared))
      return false;
  }
  return true;
}

static bool applies(const ambit__group *g, const ambit__target *t)
{
  if (t->kind != TARGET_GPU || !g->flow->nstages || g->flow->loops || !fields_fit(g)) return false;
  return g->ndims == 2 || g->ndims == 3;
}

/* Whether warps exchange values by themselves. If not, they do so through shared memory, or all of
 * a block at the same time: in two dimensions a block is one warp then, in three up to four. */
static bool exchanges(const ambit__target *t)
{
  return t->dialect->has_lanes || t->exchanges;
}

/* Registers and shared memory that a plan needs, and operations of its unrolled code. */
typedef struct needs {
  int registers;
  size_t shared;
  double work;
} needs;

/* Whether the rule of a stage has conditions. */
static bool has_choices(const ambit__flow *f)
{
  for (int i = 0; i < f->nstages; i++)
    if (ambit__price_of(f->stages[i].rule).choices > 0) return true;
  return false;
}

/* Registers of a thread, by estimate. Compilers spill little within those of BUSY_BLOCKS if these
 * are not much fewer, and the speed of as many warps is worth it: on an H200, Gray-Scott of depth 6
 * had 976 Gcells/s with three blocks and 822 with two, a wave of depth 12 1764 and 1568. Tests of
 * cells, at faces and in boxes, and conditions need more than the estimate: Burgers' equation of
 * depth 6 loaded 117 spilled values in a turn, and took 1.4 times as long as of depth 4. */
static int registers_of(const ambit__target *t, const ambit__window *j)
{
  const int registers = ambit__registers_of_window(j);
  const int busy = ambit__registers_most(t, AMBIT__WARP * WARPS * BUSY_BLOCKS);
  const bool fits = registers <= busy || registers > busy + SPARE_REGISTERS;

  return j->y >= 0 || j->edge || fits || ambit__flow_has_places(j->flow) || has_choices(j->flow)
             ? registers
             : busy;
}

static void add_needs(const ambit__target *t, const ambit__window *j, needs *n)
{
  const int registers = registers_of(t, j);

  if (registers > n->registers && (!j->edge || registers <= MOST_REGISTERS))
    n->registers = registers;
  if (ambit__window_shared(j) > n->shared) n->shared = ambit__window_shared(j);
  n->work += ambit__flow_operations(j->flow) * j->period * j->rows * j->lane;
}

static bool find_needs(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                       needs *n)
{
  *n = (needs){0};
  for (int edge = 0; edge < 2; edge++) {
    ambit__window j;

    if (!ambit__fused_begin(g, p, edge, &j)) return false;
    add_needs(t, &j, n);
  }
  return true;
}

/* Computes how many blocks of a plan fit. false: not even one. */
static bool complete(const ambit__group *g, const ambit__target *t, ambit__plan *p)
{
  const int threads = AMBIT__WARP * p->threads[1];
  size_t blocks;
  needs n;

  if (!find_needs(g, t, p, &n) || n.registers > MOST_REGISTERS || n.work > AMBIT__FUSED_MOST_WORK)
    return false;
  if (!t->dialect->has_lanes && n.shared) n.shared += BLOCK_SHARED; /* drivers take some */
  if (threads > t->max_threads || n.shared > t->shared) return false;
  blocks = (ambit__target_machine(t)->shared - BLOCK_SHARED) / (n.shared + BLOCK_SHARED);
  p->resident = ambit__registers_blocks(t, threads, n.registers);
  if (p->resident > MOST_RESIDENT) p->resident = MOST_RESIDENT;
  if ((size_t)p->resident > blocks) p->resident = (int)blocks;
  p->wave = p->resident * t->threads;
  return p->resident > 0;
}

/* Two dimensions: whether loops must not be unrolled further to load so many rows ahead. */
static bool fits_period(const ambit__group *g, ambit__plan p)
{
  const int ahead = p.ahead;
  ambit__window j;

  p.ahead = 1;
  return ahead <= 2 || (ambit__fused_begin(g, &p, false, &j) && j.period % ahead == 0);
}

static void add(const ambit__group *g, const ambit__target *t, ambit__plan p, ambit__plan *plans,
                int most, int *n)
{
  if (*n < most && fits_period(g, p) && complete(g, t, &p)) plans[(*n)++] = p;
}

/* Cells of a lane: 16 bytes of the largest type, but not too many cells. */
static int cells_of(const ambit__group *g, int most)
{
  const int cells = 16 / ambit__flow_widest(g->flow);

  return cells < most ? cells : most;
}

static int flat_candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans,
                           int most)
{
  static const int ahead[] = {2, 4, 1};
  int n = 0;

  for (int sums = !g->strict; sums >= 0; sums--)
    for (int wide = 1; wide <= 2; wide++)
      for (int k = 0; k < 3; k++)
        add(g, t,
            (ambit__plan){.strategy = &ambit__strategy_fused,
                          .depth = g->depth,
                          .strip = wide * cells_of(g, t->dialect->has_lanes ? 8 : 4),
                          .threads = {AMBIT__WARP, exchanges(t) ? WARPS : 1, 1},
                          .rolled = !exchanges(t),
                          .sums = sums,
                          .ahead = ahead[k]},
            plans, most, &n);
  return n;
}

static int deep_candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans,
                           int most)
{
  static const int warps[] = {16, 12, 8, 4};
  int n = 0;

  for (int sums = !g->strict; sums >= 0; sums--)
    for (int k = exchanges(t) ? 0 : 3; k < 4; k++)
      for (int lanes = 16; lanes <= AMBIT__WARP; lanes *= 2)
        for (int rows = 4; rows >= 1; rows--)
          add(g, t,
              (ambit__plan){.strategy = &ambit__strategy_fused,
                            .depth = g->depth,
                            .strip = cells_of(g, 4),
                            .rows = {rows},
                            .lanes = lanes,
                            .threads = {AMBIT__WARP, warps[k], 1},
                            .rolled = !exchanges(t),
                            .sums = sums,
                            .ahead = 1},
              plans, most, &n);
  return n;
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  return (g->ndims == 2 ? flat_candidates : deep_candidates)(g, t, plans, most);
}

/* Bytes of memory traffic per cell and launch. Fields on some axes stay in the caches. */
static double bytes_of(const ambit__group *g)
{
  double bytes = 0;

  for (int i = 0; i < g->flow->nvalues; i++) {
    const ambit__flow_value *v = &g->flow->values[i];
    const bool loaded = v->stage < 0 && !g->bind[v->operand].dropped;

    bytes += (double)ambit_type_size(v->type) * (loaded + (v->target >= 0));
  }
  return bytes;
}

/* Whether the value of most cells is a copy. */
static bool is_passed(const ambit__flow *p, int value)
{
  return p->values[value].stage >= 0 && p->stages[p->values[value].stage].nplaces > 0;
}

/* The share of the cells whose warps run the rule of a stage. */
static double share_of(const ambit__group *g, const ambit__window *j, const ambit__flow_stage *st)
{
  double all = st->nplaces ? 0 : 1;

  for (int k = 0; k < st->nplaces; k++) {
    double share = 1;

    for (int d = 0; d < g->ndims; d++) {
      const double cells = (double)g->cells[d], least = d == j->x ? j->lanes * j->lane : j->rows;

      share *= fmin(1, fmax(least, cells - st->place[k][d][0] - st->place[k][d][1]) / cells);
    }
    all += share;
  }
  return fmin(1, all);
}

/* Instructions per cell and launch, in those of 32 bits: arithmetic, exchanges with adjacent lanes,
 * loads and stores. Stages on a box copy all values, and test rows and cells. */
static double instructions_of(const ambit__group *g, const ambit__window *j)
{
  const int widest = ambit__registers_of_widest(j->flow);
  double n = 0, shares = 0;

  for (int i = 0; i < j->flow->nstages; i++) {
    const ambit__window_stage *f = &j->stages[i];
    const ambit__flow_stage *st = &j->flow->stages[i];
    const double work =
        f->taps ? f->ntaps * widest
                : ((double)st->rule->flops * widest + ambit__price_more(st->rule, g->ndims)) *
                      share_of(g, j, st);

    n += work + AMBIT__FIT_STAGED * widest + (st->nplaces ? (3.0 + st->nplaces) / j->lane : 0);
  }
  for (int v = 0; v < j->flow->nvalues; v++) {
    const double words = ambit__flow_words(j->flow, v);

    if (j->values[v].shared >= 0)
      shares += words * 2 * (j->values[v].left + j->values[v].right) / j->lane;
    n += (j->flow->values[v].stage < 0) * 1.5 + (j->flow->values[v].target >= 0);
    if (is_passed(j->flow, v)) n += AMBIT__FIT_HANDED * words;
  }
  return n + shares;
}

/* Cells that the warps of a launch compute, or could compute while the longest tile runs, per
 * cell of the grid. While few tiles are left their turns take less time. */
static double computed_again(const ambit__group *g, const ambit__plan *p, const ambit__window *j)
{
  const double rows = (double)g->cells[j->z], columns = (double)g->cells[j->x];
  const double strips = columns / ambit__window_useful(j) + 1, beside = j->lead + j->drain;
  const double slots = (double)(p->wave > 0 ? p->wave : 1) * WARPS;
  const double chunks = (double)ambit__fused_chunks(j, p, g->cells[j->z], (int64_t)strips);
  const double pieces = ambit__fused_pieces(j, p, rows, chunks);
  const double sides =
      j->flow->periodic[j->x] ? 0 : AMBIT__FIT_EDGE * AMBIT__FIT_SIDES * (rows + pieces * beside);
  const double band = j->flow->periodic[j->z] ? 0 : AMBIT__FIT_EDGE * AMBIT__FIT_BAND_ROWS * beside;
  const double all =
      strips * (rows + chunks * beside) + sides + 2 * AMBIT__FIT_BAND_STRIPS * strips * band;
  const double longest = fmax(rows / chunks + beside, band);
  const double busy = fmin(AMBIT__FIT_MOST_BUSY, strips * chunks / slots + AMBIT__FIT_FACES_BUSY);
  const double uneven = fmax(all / slots, fmax(ambit__fused_least_wave(p), busy) * longest);
  const double turns = ambit__fused_has_faces(j)
                           ? uneven
                           : ambit__fused_even_turns(j, p, rows, floor(strips), chunks);

  return turns * slots * AMBIT__WARP * j->lane / (rows * columns);
}

/* Three dimensions: the cells that are computed for each one that is stored, where those of tiles
 * at faces count more, or that could be while some multiprocessors have nothing to do. */
static double overlap(const ambit__group *g, const ambit__plan *p, const ambit__window *j)
{
  const double columns = ambit__window_useful(j), rows = ambit__window_useful_rows(j);
  const double across = ceil((double)g->cells[j->x] / columns), planes = (double)g->cells[j->z];
  const double along = ceil((double)g->cells[j->y] / rows), tiles = across * along;
  const double chunks = (double)ambit__fused_chunks(j, p, g->cells[j->z], (int64_t)tiles);
  const double wide = j->flow->periodic[j->x] ? across : fmax(across - 2, 0);
  const double deep = j->flow->periodic[j->y] ? along : fmax(along - 2, 0);

  return fmax(1, p->wave / (tiles * chunks)) * j->lanes * j->lane / columns *
         (j->groups * j->rows / rows) * (1 + chunks * (j->lead + j->drain) / planes) *
         (1 + (AMBIT__FIT_DEEP_EDGE - 1) * (1 - wide * deep / tiles));
}

/* ns per cell of a launch, for cells that are computed once: memory traffic and instructions, which
 * overlap in part. With few warps instructions wait for each other's results. */
static double flat_cost(const ambit__group *g, const ambit__plan *p, double memory, double work)
{
  const int enough = ambit__flow_widest(g->flow) > 4 ? FEW_WARPS / 2 : FEW_WARPS;
  const int few = enough - p->resident * p->threads[1];
  double ns;

  if (few > 0) work *= 1 + AMBIT__FIT_MISSING * few;
  ns = fmax(memory, work) + AMBIT__FIT_BESIDE * fmin(memory, work);
  if (p->ahead != 2) ns *= p->ahead < 2 ? AMBIT__FIT_AHEAD_FEW : AMBIT__FIT_AHEAD_MANY;
  return ns;
}

/* ns per cell of a launch in three dimensions, for cells that are computed once. All warps of a
 * block wait for each other in every turn, and share rows. */
static double deep_cost(const ambit__group *g, const ambit__plan *p, const ambit__window *j,
                        const ambit__machine *m)
{
  const double memory = bytes_of(g) / (AMBIT__FIT_DEEP_COPY * m->copy);
  double n = AMBIT__FIT_DEEP * instructions_of(g, j) + AMBIT__FIT_BARRIER * j->flow->nstages, ns;

  for (int v = 0; v < j->flow->nvalues; v++)
    if (j->values[v].fetched >= 0)
      n += AMBIT__FIT_SHARED * ambit__flow_words(j->flow, v) *
           (j->values[v].down + j->values[v].up) / j->rows;
  ns = n / m->fma32;
  if (ambit__flow_widest(j->flow) <= 4 && p->resident * p->threads[1] < FEW_WARPS)
    ns *= AMBIT__FIT_FEW_WARPS;
  return memory > ns ? memory : ns;
}

/* ns per cell and iteration. */
static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const ambit__machine *m = ambit__target_machine(t);
  ambit__window j;
  double memory, work;

  if (!exchanges(t)) return UNMEASURED_NS;
  if (!ambit__fused_begin(g, p, false, &j)) return 1e9;
  if (j.y >= 0) return deep_cost(g, p, &j, m) * overlap(g, p, &j) / g->depth;
  memory = bytes_of(g) / (AMBIT__FIT_FLAT_COPY * m->copy);
  work = AMBIT__FIT_FLAT * instructions_of(g, &j) / m->fma32;
  return flat_cost(g, p, memory, work) * computed_again(g, p, &j) / g->depth;
}

static void emit(ambit__nest *n, const ambit__target *t, const ambit__plan *p, ambit__writer *w)
{
  const ambit__group *g = n->group;
  const ambit__dialect *d = t->dialect;
  ambit__window fast, edge;

  if (!ambit__fused_begin(g, p, false, &fast) || !ambit__fused_begin(g, p, true, &edge)) return;
  if (d->fused) n->opening = "AMBIT_LANES";
  if (!d->has_lanes && (ambit__window_shared(&fast) || ambit__window_shared(&edge)))
    n->last = "local uint4 *shared";
  ambit__emit_strips(n);
  if (d->fused) ambit__print(&n->prelude, "\n%s", d->fused);
  if (ambit__flow_has_points(g->flow))
    ambit__print(&n->prelude, "\n#define AMBIT_GLOBAL %s\n%s", d->global, ambit__prelude_aims);
  ambit__nest_window(n, &fast, &edge);
  ambit__emit(n, p, w);
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(fused %s %d", p->sums ? "sum" : "window", (int)p->strip);
  if (p->lanes) ambit__print(t, "x%d", p->rows[0]);
  ambit__print(t, "x%d ", p->depth);
  if (p->lanes) ambit__print(t, "lanes %d ", p->lanes);
  ambit__print(t, "ahead %d warps %d resident %d)", p->ahead, p->threads[1], p->resident);
}

const ambit__strategy ambit__strategy_fused = {
    .name = "fused",
    .applies = applies,
    .candidates = candidates,
    .cost = cost,
    .emit = emit,
    .describe = describe,
    .shape = ambit__fused_shape,
};
