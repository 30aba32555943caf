/* SPDX-License-Identifier: BSD-3-Clause */
/* folds.c - on a GPU: cells are folded onto fields of fewer axes as they are computed
 * (nest/folds.c).
 *
 * Threads of a warp lie along the last axis that has several cells. Totals that are too few to keep
 * the device busy are cut into pieces along the longest folded axis. The innermost loop is the one
 * that takes most turns, as its loads are under way together.
 */
#include "base/integers.h"
#include "nest/nest.h"
#include "plan/gpu.h"

enum {
  THREADS = 256,
  WARP = 32,
  FEW = 4,   /* cells of a thread of a warp that folds a total, if it can have so many, */
  MANY = 16, /* and of a block */
  LEAST = 8, /* cells of a thread in a piece */
  WASTE = 8, /* of threads beside totals, one in so many may be idle */
  BUSY = 32, /* blocks of a multiprocessor, before totals are cut */
  MOST = 64  /* blocks of a multiprocessor that a launch has */
};

/* ---- choice of a plan ---- */

static int last_long_axis(const ambit__group *g)
{
  int d = g->ndims - 1;

  while (d > 0 && g->cells[d] <= 1)
    d--;
  return g->cells[d] > 1 ? d : g->ndims - 1;
}

static bool is_folded(const ambit__group *g, int axis)
{
  return ambit__group_folded(g) >> axis & 1;
}

/* Threads along rows of `row` cells, of totals of so many cells. */
static int threads_of_row(int64_t row, int64_t cells, int most)
{
  int n = 1;

  while (n < row && 2 * n <= most && cells >= (int64_t)2 * n * (n < WARP ? FEW : MANY))
    n *= 2;
  return n;
}

/* Threads beside each other, of so many totals: as many as leave few of them idle. */
static int threads_beside(int64_t totals, int most)
{
  int n = most;

  while (n > WARP && (totals + n - 1) / n * n - totals > totals / WASTE)
    n /= 2;
  while (n > 1 && n / 2 >= totals)
    n /= 2;
  return n;
}

/* Turns of a thread along a folded axis. */
static int64_t turns_of(const ambit__group *g, const ambit__plan *p, int axis)
{
  const int shared = is_folded(g, p->axes[0]) ? p->axes[0] : p->axes[1];

  return g->cells[axis] / (axis == shared ? p->threads[!is_folded(g, p->axes[0])] : 1);
}

/* Turns of the innermost loop whose loads are under way together: H200, the density of a float
 * f(x, y, v, w) 1854 GB/s with 4, 2486 with 8; three moments 1450 and 1341. */
static int best_batch(const ambit__group *g, const ambit__plan *p)
{
  int totals = 0, n = 8;

  for (int i = 0; i < g->rule->nparams; i++)
    totals += g->bind[i].onto ? g->rule->params[i].components : 0;
  if (totals > 2) n = 4;
  while (n > 1 && n > turns_of(g, p, p->axes[2]))
    n /= 2;
  return n;
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  ambit__plan p = {.strategy = &ambit__strategy_folds, .depth = 1, .threads = {1, 1, 1}};
  const int threads = ambit__gpucode_threads(t, THREADS);
  int64_t totals = 1, cells = 1;
  int longest = -1;

  if (most < 1) return 0;
  for (int d = 0; d < g->ndims; d++) {
    *(is_folded(g, d) ? &cells : &totals) *= g->cells[d];
    if (is_folded(g, d) && (longest < 0 || g->cells[d] > g->cells[longest])) longest = d;
  }
  p.axes[0] = last_long_axis(g);
  p.axes[1] = p.axes[2] = longest;
  p.threads[0] = is_folded(g, p.axes[0]) ? threads_of_row(g->cells[p.axes[0]], cells, threads)
                                         : threads_beside(totals, threads);
  p.threads[1] = threads / p.threads[0];
  for (int d = 0; d < g->ndims; d++)
    if (is_folded(g, d) && turns_of(g, &p, d) > turns_of(g, &p, p.axes[2])) p.axes[2] = d;
  p.rows[0] = best_batch(g, &p);
  p.blocks = ambit__blocks_busy(g, t, MOST);
  p.wave = (t->threads > 1 ? t->threads : 1) * BUSY;
  plans[0] = p;
  return 1;
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(folds %dx%d along %d pieces %d inner %d batch %d)", p->threads[0],
               p->threads[1], p->axes[0], p->axes[1], p->axes[2], p->rows[0]);
}

/* ---- launches ---- */

static void shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                  ambit__shape *shape)
{
  const bool rows = is_folded(g, p->axes[0]);
  const int64_t each = p->threads[rows], cut = box->hi[p->axes[1]] - box->lo[p->axes[1]];
  const bool shared = !rows || p->axes[0] == p->axes[1]; /* threads share the cells of a piece */
  int64_t totals = 1, cells = 1, blocks, least;

  for (int d = 0; d < g->ndims; d++) {
    const int64_t n = box->hi[d] - box->lo[d];

    if (!is_folded(g, d))
      totals *= n;
    else if (d != p->axes[1])
      cells *= n;
  }
  *shape = (ambit__shape){.threads = {p->threads[0], p->threads[1], 1}};
  blocks = (totals + each - 1) / each;
  /* the least cells of a piece along its axis, so that each thread has LEAST cells */
  if (!shared) cells = (cells + p->threads[0] - 1) / p->threads[0];
  least = (LEAST + cells - 1) / cells * (shared ? p->threads[!rows] : 1);
  shape->share = ambit__max64((cut * blocks + p->wave - 1) / p->wave, least);
  if (shape->share > cut) shape->share = cut;
  shape->pieces = (cut + shape->share - 1) / shape->share;
  blocks = (totals * shape->pieces + each - 1) / each;
  shape->blocks[0] = blocks < p->blocks ? blocks : p->blocks;
  shape->blocks[1] = shape->blocks[2] = 1;
}

/* ---- code ---- */

static void emit(ambit__nest *n, const ambit__target *t, const ambit__plan *p, ambit__writer *w)
{
  const ambit__nest_folds f = {.along = p->axes[0],
                               .pieces = p->axes[1],
                               .inner = p->axes[2],
                               .batch = p->rows[0],
                               .threads = {p->threads[0], p->threads[1]}};

  (void)t;
  ambit__hoists_begin(&n->hoists, n->rule);
  ambit__nest_folded(n, &f);
  ambit__emit(n, p, w);
}

const ambit__strategy ambit__strategy_folds = {
    .name = "folds",
    .candidates = candidates,
    .cost = ambit__gpucode_cell_cost,
    .emit = emit,
    .describe = describe,
    .shape = shape,
};
