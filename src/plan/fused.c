/* SPDX-License-Identifier: BSD-3-Clause */
/* fused.c - on a GPU: several iterations in one pass over memory.
 *
 * A warp owns a strip of the grid and advances along it, row by row. All stages of all iterations
 * keep the rows they need in registers. Values are loaded once and stored once per launch, and the
 * cells beside a tile are computed again by its neighbours. See docs/design/0013-fused.md.
 *
 *   (fused sum 4x12 ahead 2 warps 4 resident 3)
 *
 * The numbers are: cells of a lane, iterations, rows loaded ahead, warps per block, blocks per
 * multiprocessor.
 */
#include "plan/fused.h"

enum {
  WARPS = 4, /* per block */
  MOST_REGISTERS = 250,
  REGISTERS = 65536, /* per multiprocessor */
  MOST_RESIDENT = 8,
  MOST_WORK = 12000, /* operations in unrolled code */
  FEW_WARPS = 12     /* fewer per multiprocessor are too few */
};

/* Time of the edge code per cell, in that of the fast code. */
static const double EDGE_COST = 4.5;

static bool fields_fit(const ambit__group *g)
{
  const ambit__rule *rule = g->steps[0].rule;

  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_FIELD &&
        (!g->steps[0].bind[i].contiguous || g->steps[0].bind[i].shared))
      return false;
  return true;
}

static bool applies(const ambit__group *g, const ambit__target *t)
{
  return t->kind == TARGET_GPU && t->dialect->stream && t->warp == AMBIT__FUSED_WARP &&
         g->pipeline && g->ndims == 2 && g->pipeline->nstages && fields_fit(g);
}

/* Bytes of the largest and the smallest value. */
static void sizes_of(const ambit__pipeline *p, int *largest, int *smallest)
{
  *largest = 1;
  *smallest = 8;
  for (int i = 0; i < p->nvalues; i++) {
    const int size = (int)ambit_type_size(p->values[i].type);

    if (size > *largest) *largest = size;
    if (size < *smallest) *smallest = size;
  }
}

static double operations(const ambit__pipeline *p)
{
  double n = 0;

  for (int i = 0; i < p->nstages; i++)
    n += (double)p->stages[i].rule->flops + 1;
  return n;
}

/* Computes how many blocks of a plan fit. false: not even one. */
static bool complete(const ambit__group *g, const ambit__target *t, ambit__plan *p)
{
  ambit__fused_job fast, edge;
  int registers = 0, more;
  bool fits = ambit__fused_begin(g, p, false, &fast);

  if (fits) {
    fits = ambit__fused_begin(g, p, true, &edge);
    if (fits) {
      registers = ambit__fused_registers(&fast);
      more = ambit__fused_registers(&edge);
      if (more > registers && more <= MOST_REGISTERS) registers = more;
      fits =
          operations(fast.pipe) * (fast.period * fast.lane + edge.period * edge.lane) <= MOST_WORK;
    }
    ambit__fused_end(&edge);
  }
  ambit__fused_end(&fast);
  if (!fits || registers > MOST_REGISTERS) return false;
  p->resident = REGISTERS / (AMBIT__FUSED_WARP * WARPS) / ((registers + 7) / 8 * 8);
  if (p->resident > MOST_RESIDENT) p->resident = MOST_RESIDENT;
  p->wave = p->resident * t->threads;
  return p->resident > 0;
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  int n = 0, largest, smallest;

  sizes_of(g->pipeline, &largest, &smallest);
  for (int sums = !g->strict; sums >= 0; sums--)
    for (int wide = 1; wide <= 2; wide++)
      for (int ahead = 2; ahead >= 1; ahead--) {
        ambit__plan p = {.strategy = &ambit__strategy_fused,
                         .depth = g->depth,
                         .strip = wide * 16 / largest,
                         .threads = {AMBIT__FUSED_WARP, WARPS, 1},
                         .sums = sums,
                         .ahead = ahead};

        if (p.strip > 8 * wide) p.strip = 8 * wide;
        if (n < most && complete(g, t, &p)) plans[n++] = p;
      }
  return n;
}

/* Bytes of memory traffic per cell and launch. */
static double bytes_of(const ambit__pipeline *p)
{
  double bytes = 0;

  for (int i = 0; i < p->nvalues; i++)
    bytes += (double)ambit_type_size(p->values[i].type) *
             ((p->values[i].stage < 0) + (p->values[i].target >= 0));
  return bytes;
}

/* Instructions per cell and launch, in those of 32 bits: arithmetic, exchanges with adjacent lanes,
 * loads and stores. */
static double instructions_of(const ambit__fused_job *j)
{
  double n = 0, shares = 0;
  int largest, smallest;

  sizes_of(j->pipe, &largest, &smallest);
  for (int i = 0; i < j->pipe->nstages; i++) {
    const ambit__fused_stage *f = &j->stages[i];
    const double work = f->taps ? f->ntaps : (double)j->pipe->stages[i].rule->flops;

    n += (work + 0.4) * (largest > 4 ? 2 : 1);
  }
  for (int v = 0; v < j->pipe->nvalues; v++) {
    const double words = ambit_type_size(j->pipe->values[v].type) > 4 ? 2 : 1;

    if (j->values[v].shared >= 0)
      shares += words * 2 * (j->values[v].left + j->values[v].right) / j->lane;
    n += (j->pipe->values[v].stage < 0) * 1.5 + (j->pipe->values[v].target >= 0);
  }
  return n + shares;
}

/* Cells that the warps of a launch compute, or could compute while the longest tile runs, per
 * cell of the grid. */
static double computed_again(const ambit__group *g, const ambit__plan *p, const ambit__fused_job *j)
{
  const double rows = (double)g->cells[j->z], columns = (double)g->cells[j->x];
  const double strips = columns / ambit__fused_useful(j) + 1, beside = j->lead + j->drain;
  const double slots = (double)(p->wave > 0 ? p->wave : 1) * WARPS;
  const double chunks = (double)ambit__fused_chunks(j, p, g->cells[j->z], (int64_t)strips);
  const double sides = EDGE_COST * 2 * (rows + chunks * beside);
  const double bands = EDGE_COST * 2 * strips * 2 * beside;
  double turns = (strips * (rows + chunks * beside) + sides + bands) / slots;
  const double longest = rows / chunks + beside;

  if (turns < longest) turns = longest;
  if (turns < EDGE_COST * 2 * beside) turns = EDGE_COST * 2 * beside;
  return turns * slots * AMBIT__FUSED_WARP * j->lane / (rows * columns);
}

/* ns per cell and iteration of a large GPU, as measured on an H200: the longer of memory traffic
 * and instructions, times the cells that are computed again. With few warps neither is fast. */
static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const int warps = p->resident * WARPS;
  double ns = 1e9, memory, work;
  int largest, smallest, few;
  ambit__fused_job j;

  (void)t;
  sizes_of(g->pipeline, &largest, &smallest);
  few = (largest > 4 ? FEW_WARPS / 2 : FEW_WARPS) - warps;
  if (ambit__fused_begin(g, p, false, &j)) {
    memory = bytes_of(g->pipeline) / 3900;
    work = instructions_of(&j) * 1.12 / 33500;
    ns = (memory > work ? memory + 0.15 * work : work + 0.15 * memory) * computed_again(g, p, &j) /
         g->depth;
    if (few > 0) ns *= 1 + 0.07 * few;
  }
  ambit__fused_end(&j);
  return ns;
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(fused %s %dx%d ahead %d warps %d resident %d)", p->sums ? "sum" : "window",
               (int)p->strip, p->depth, p->ahead, p->threads[1], p->resident);
}

const ambit__strategy ambit__strategy_fused = {
    .name = "fused",
    .applies = applies,
    .candidates = candidates,
    .cost = cost,
    .emit = ambit__fused_emit,
    .describe = describe,
    .shape = ambit__fused_shape,
};
