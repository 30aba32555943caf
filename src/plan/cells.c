/* SPDX-License-Identifier: BSD-3-Clause */
/* cells.c - on a GPU: a thread computes one cell at a time, directly from memory.
 *
 * It runs any rule on any box. The last axis lies along the threads of a warp, so that memory
 * accesses coalesce; the axis before it lies along y, and all others together along z:
 *
 *      axis last      x   threads 0 ... 63, blocks of 64 cells
 *      axis last - 1  y   threads 0 ... 3
 *      the rest       z   one thread, blocks counted in C order
 *
 * Starting a block costs more than computing a cell, so a launch has only enough blocks to keep all
 * multiprocessors busy, and every thread loops over cells with the stride of the launch. Where a
 * cell takes longer, as it has much to write, every thread has one. With more than three axes
 * finding its place takes a thread some 300 instructions, a star of five axes 50: there it walks
 * along a few cells of the third last axis.
 */
#include "base/integers.h"
#include "nest/nest.h"
#include "plan/fitted.h"
#include "plan/gpu.h"
#include "plan/launch_line.h"
#include "plan/registers.h"

#include <math.h>

enum {
  THREADS = 256,     /* per block, */
  LARGE = 512,       /* or for rules that compute little */
  LINES = 32,        /* in a sweep: a grid has few lines for many multiprocessors */
  MOST_ALONG_X = 64, /* most of them along x, if there is a y */
  /* H200, 2d4 in float: 226 Gcells/s with 8, 271 with 32, 184 without a limit */
  BLOCKS_PER_MULTIPROCESSOR = 32,
  /* H200, D3Q19 in place: 18.8 Gcells/s with 32, 22.0 without a limit; in halves 20.5 and 35.8 */
  MUCH = 32,      /* bytes that a cell writes, for launches without a limit */
  MOST_WALK = 16, /* cells, if there are BUSY threads for each multiprocessor */
  BUSY = 1024,
  MOST_RESIDENT = 4 /* of kernels with two branches, see resident_blocks */
};

/* ---- choice of a plan ---- */

/* The smallest power of two that is at least n, limited to `most`, itself a power of two. */
static int power(int64_t n, int most)
{
  int p = 1;

  while (p < n && p < most)
    p *= 2;
  return p;
}

static int written_bytes(const ambit__rule *rule)
{
  return (int)ambit__price_of(rule).written; /* by a cell */
}

/* Whether the rule tests where its cell is. */
static bool has_tests(const ambit__rule *rule)
{
  int low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};

  return ambit__rule_tests(rule, true, low, high);
}

/* The most blocks of a launch. OpenCL cannot bound registers: kernels with two branches take so
 * many there that more blocks do not pay (D3Q19 with walls in double: 8.2, with a limit 9.2). */
static int64_t most_blocks(const ambit__group *g, const ambit__target *t)
{
  const bool is_bound = t->dialect->has_lanes || !has_tests(g->rule);

  if (!t->is_cpu && is_bound && written_bytes(g->rule) >= MUCH && !ambit__group_reduces(g))
    return INT32_MAX;
  return ambit__blocks_busy(g, t, BLOCKS_PER_MULTIPROCESSOR);
}

/* With tests of the place there are two branches (emit_cell), and compilers take all registers they
 * can get for the rarer one: D3Q19 in float had 174, so that a multiprocessor of an H200 ran one
 * block at a time, at half the speed. It has 72 if three blocks are to fit, and spills none; in
 * halves, 64 if four are to. */
static int resident_blocks(const ambit__group *g, const ambit__target *t, int threads)
{
  const ambit__rule *rule = g->rule;

  if (!has_tests(rule)) return 0;
  return ambit__min((int)ambit__target_machine(t)->registers /
                        (threads * ambit__registers_of_cell(rule)),
                    MOST_RESIDENT);
}

/* Cells of a thread along the third last axis. */
static int best_walk(const ambit__group *g, const ambit__target *t)
{
  const double cells = ambit__group_cells(g);
  int walk = MOST_WALK;

  if (g->ndims < 4) return 1;
  while (walk > 1 &&
         (walk >= 2 * g->cells[g->ndims - 3] || cells / walk < (double)t->threads * BUSY))
    walk /= 2;
  return walk;
}

/* Large blocks read fewer rows that others read, too; rules that compute much take too many
 * registers for them. H200: Maxwell's equations with 12 components 60 % of the copy with 256
 * threads, 71 % with 512; a Riemann solver of 18 operations per byte 18 and 17 %. */
static int most_threads(const ambit__group *g)
{
  const ambit__rule *rule = g->rule;

  if (g->sweep) return LINES;
  return g->ndims == 1 || has_tests(rule) || (double)rule->flops > ambit__price_of(rule).bytes
             ? THREADS
             : LARGE;
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  ambit__plan p = {.strategy = &ambit__strategy_cells, .depth = 1, .threads = {1, 1, 1}};
  const int threads = ambit__gpucode_threads(t, most_threads(g));
  int axes[AMBIT_MAX_DIMS];
  const int n = ambit__nest_launched_axes(g, axes);

  if (most < 1) return 0;
  plans[0] = p;
  if (t->kind == TARGET_C) return g->checks || !ambit__group_sums_exactly(g);
  if (n > 0) p.threads[0] = power(g->cells[axes[n - 1]], n > 1 ? MOST_ALONG_X : threads);
  if (p.threads[0] > threads) p.threads[0] = threads;
  if (n > 1) p.threads[1] = power(g->cells[axes[n - 2]], threads / p.threads[0]);
  p.rows[1] = g->sweep ? 1 : best_walk(g, t);
  p.blocks = most_blocks(g, t);
  p.resident =
      t->dialect->has_lanes && !g->checks ? resident_blocks(g, t, p.threads[0] * p.threads[1]) : 0;
  plans[0] = p;
  return 1;
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(cells");
  if (p->blocks) ambit__print(t, " %dx%d", p->threads[0], p->threads[1]);
  if (p->rows[1] > 1) ambit__print(t, "x%d", p->rows[1]);
  ambit__print(t, ")");
}

/* ---- launches ---- */

/* One thread per cell, or fewer with the limit on blocks. */
static void launch_line(const ambit__group *g, const ambit__plan *p, ambit__launch_line *r)
{
  int axes[AMBIT_MAX_DIMS];
  const int n = ambit__nest_launched_axes(g, axes);

  *r = (ambit__launch_line){.ndims = g->ndims,
                            .threads = {p->threads[0], p->threads[1], p->threads[2]},
                            .most = p->blocks};
  for (int k = 0; k < 2 && k < n; k++)
    ambit__launch_line_add(r, k, axes[n - 1 - k], 0, p->threads[k]);
  for (int k = 0; k < n - 2; k++)
    ambit__launch_line_add(r, 2, axes[k], 0, k == n - 3 && n > 3 ? p->rows[1] : 1);
}

/* ---- code ---- */

/* In a sweep a thread waits for the cells of a line, one after the other. Along rows, neighbouring
 * threads access a row each. */
static double sweep_cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const ambit__machine *m = ambit__target_machine(t);
  const int axis = ambit__sweep_axis(g->sweep);
  const double lines = ambit__group_cells(g) / (double)(g->cells[axis] > 0 ? g->cells[axis] : 1);
  const double wait = AMBIT__FIT_LINE_WAIT * m->chain / fmax(lines, 1);
  const double bytes = ambit__price_bound(g->rule, g->bind, g->ndims).bytes;
  double cell = bytes / (AMBIT__FIT_LINE * m->copy);

  if (axis == g->ndims - 1) cell = AMBIT__FIT_LINE_ROWS * ambit__gpucode_cell_cost(g, t, p);
  return fmax(cell + (1 - AMBIT__FIT_LINE_HIDDEN) * wait, wait);
}

static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  if (t->kind == TARGET_C) return 2 * ambit__strategy_rows.cost(g, t, p);
  return g->sweep && !t->is_cpu ? sweep_cost(g, t, p) : ambit__gpucode_cell_cost(g, t, p);
}

static void emit(ambit__nest *n, const ambit__target *t, const ambit__plan *p, ambit__writer *w)
{
  const ambit__rows rows = {.rows = {1, 1}, .plain = true};

  if (t->kind == TARGET_C) {
    ambit__nest_rows(n, &rows);
  } else {
    if (!n->group->checks) ambit__hoists_begin(&n->hoists, n->rule);
    ambit__nest_cells_launched(n, p->threads, p->rows[1]);
  }
  ambit__emit(n, p, w);
}

const ambit__strategy ambit__strategy_cells = {
    .name = "cells",
    .candidates = candidates,
    .cost = cost,
    .emit = emit,
    .describe = describe,
    .shape = ambit__gpucode_shape,
    .launch_line = launch_line,
};
