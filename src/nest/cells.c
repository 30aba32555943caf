/* SPDX-License-Identifier: BSD-3-Clause */
/* cells.c - on a GPU: a thread computes one cell after the other.
 *
 * The last axis lies along the threads of a warp, so that memory accesses coalesce; the axis before
 * it lies along y, and all others together along z:
 *
 *      axis last      x   threads 0 ... 63, blocks of 64 cells
 *      axis last - 1  y   threads 0 ... 3
 *      the rest       z   one thread, blocks counted in C order
 *
 * With more than three axes, finding a thread's place takes divisions. It then computes several
 * cells one after the other along axis last - 2.
 *
 * In a sweep a thread computes a line: the other axes lie along x, y and z, the last of them along
 * x, and the thread keeps the carried values in variables. A grid of one axis has one line.
 *
 * Where a rule tests the place of its cell, cells far from all faces have a branch of their own:
 * D3Q19 in halves with 18 tests took three times as long as without them on an H200.
 */
#include "nest/nest.h"

enum { WARP = 32 }; /* threads that take a branch together */

/* The rule, in a cell where all tests of its place are made (0), have known values (1), or there
 * are none (-1). */
static void add_body(ambit__nest *n, int inside)
{
  if (inside >= 0) ambit__nest_do(n, "enum { inside = %d }", inside);
  ambit__nest_let_loads(n, NULL, NULL);
  ambit__nest_let_outs(n);
  ambit__nest_node(n, NODE_RULE, .inside = inside);
  ambit__nest_store_outs(n);
  ambit__nest_fold_into(n, "total", "out", false);
}

/* ---- axes ---- */

int ambit__nest_launched_axes(const ambit__group *g, int axes[AMBIT_MAX_DIMS])
{
  int count = 0;

  for (int d = 0; d < g->ndims; d++)
    if (d != ambit__sweep_axis(g->sweep)) axes[count++] = d;
  return count;
}

/* The loop along y is the innermost, so that a thread steps from row to row. Unrolling would
 * compute the trip count, by a division. */
static void open_axis(ambit__nest *n, int axis, int along, int threads)
{
  ambit__nest_loop(n, .type = n->integer, .name = ambit__nest_text(n, "y%d", axis),
                   .from = ambit__nest_text(n, "lo%d", axis),
                   .below = ambit__nest_text(n, "hi%d", axis), .how = LOOP_LAUNCH, .along = along,
                   .threads = threads, .rolled = true);
}

/* All axes but the last two, counted together, the last of them in pieces of `walk` cells: z is
 * split again into y0, y1, ..., and the piece from .. below - 1. */
static void open_planes(ambit__nest *n, const int *axes, int count, int walk)
{
  const int w = axes[count - 1];
  const char *planes = "pieces", *type = n->integer;

  ambit__nest_do(n, "const %s pieces = (hi%d - lo%d + %d) / %d", type, w, w, walk - 1, walk);
  for (int k = 0; k < count - 1; k++)
    planes = ambit__nest_text(n, "%s * (hi%d - lo%d)", planes, axes[k], axes[k]);
  ambit__nest_do(n, "const %s planes = %s", type, planes);
  ambit__nest_loop(n, .type = type, .name = "z", .below = "planes", .how = LOOP_LAUNCH, .along = 2,
                   .threads = 1);
  ambit__nest_do(n, "const %s from = lo%d + z %% pieces * %d", type, w, walk);
  ambit__nest_do(n, "const %s below = from + %d < hi%d ? from + %d : hi%d", type, walk, w, walk, w);
  ambit__nest_do(n, "%s rest = z / pieces", type);
  for (int k = count - 2; k >= 0; k--) {
    const int d = axes[k];

    ambit__nest_do(n, "const %s y%d = lo%d + rest %% (hi%d - lo%d)", type, d, d, d, d);
    if (k) ambit__nest_do(n, "rest /= hi%d - lo%d", d, d);
  }
}

/* "1 & (i0 >= 1) & (i0 < extent0 - 1)": no test along an axis is 1. Along the axis of a warp, for
 * all its threads, as one that takes both branches is slower than in either. */
static const char *inside_of(ambit__nest *n, const int *low, const int *high, int along,
                             int threads)
{
  const int warp = (threads < WARP ? threads : WARP) - 1;
  const char *inside = "1";

  for (int d = 0; d <= ambit__nest_last(n); d++) {
    const int beside = d == along ? warp : 0;
    const char *i = ambit__nest_text(n, "i%d", d);

    if (beside) i = ambit__nest_text(n, "%s - (%s & %d)", i, n->dialect->thread[0], beside);
    if (low[d]) inside = ambit__nest_text(n, "%s & (%s >= %d)", inside, i, low[d]);
    if (high[d])
      inside = ambit__nest_text(n, "%s & (%s < extent%d - %d)", inside, i, d, high[d] + beside);
  }
  return inside;
}

/* The cells of a line, in order. */
static void open_sweep(ambit__nest *n)
{
  const int axis = ambit__sweep_axis(n->group->sweep);

  ambit__nest_let_carried(n);
  ambit__nest_along(n, n->integer, ambit__nest_text(n, "y%d", axis),
                    ambit__nest_text(n, "lo%d", axis), ambit__nest_text(n, "hi%d", axis),
                    n->group->sweep < 0);
}

void ambit__nest_cells_launched(ambit__nest *n, const int threads[2], int walk)
{
  int low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0}, axes[AMBIT_MAX_DIMS];
  const int count = ambit__nest_launched_axes(n->group, axes), outer = count - 2;
  int lines;

  if (outer == 1) open_axis(n, axes[0], 2, 1);
  if (outer > 1) open_planes(n, axes, outer, walk);
  if (count) open_axis(n, axes[count - 1], 0, threads[0]);
  if (!n->group->sweep) ambit__nest_let_neighbours(n);
  if (count > 1) open_axis(n, axes[count - 2], 1, threads[1]);
  if (outer > 1)
    ambit__nest_for(n, n->integer, ambit__nest_text(n, "y%d", axes[outer - 1]), "from", "below");
  lines = n->level;
  if (n->group->sweep) {
    open_sweep(n);
    ambit__nest_let_neighbours(n);
  }
  ambit__nest_let_places(n);
  if (!n->group->checks && ambit__rule_tests(n->rule, true, low, high)) {
    ambit__nest_if(n, "%s", inside_of(n, low, high, count ? axes[count - 1] : -1, threads[0]));
    add_body(n, 1);
    ambit__nest_otherwise(n);
    add_body(n, 0);
    ambit__nest_close(n);
  } else {
    add_body(n, -1);
  }
  while (n->level > lines)
    ambit__nest_close(n);
  if (n->group->sweep) ambit__nest_store_carried(n);
  while (n->level)
    ambit__nest_close(n);
}
