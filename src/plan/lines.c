/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - on a GPU: a sweep whose cells pass through shared memory (nest/lines.c).
 *
 * The fewer lines there are, the fewer lanes of a warp have one, so that there are warps enough:
 * then a tile has more cells of each line. The fewer warps, the more tiles arrive while one is
 * computed.
 */
#include "base/integers.h"
#include "nest/nest.h"
#include "plan/fitted.h"
#include "plan/gpu.h"
#include "plan/launch_line.h"

#include <math.h>

enum {
  WARP = 32,
  LINE = 128,           /* bytes of memory that a warp accesses at once, */
  LONG = 512,           /* and of a row that it accesses one after the other */
  LEAST_LANES = 8,      /* a sector of memory */
  TILE = 1024,          /* cells of a tile at most, */
  LEAST_TILE = 256,     /* and at least */
  MOST_CELLS = 256,     /* of a line in a tile */
  SHARED = 40 << 10,    /* bytes of shared memory of a block; every launch has 48 KiB */
  MOST_RING = 8,        /* tiles */
  IN_FLIGHT = 64 << 10, /* bytes on their way to a multiprocessor that keep memory busy */
  MOST_BATCH = 16,      /* cells that are loaded together, */
  MOST_LOADED = 48,     /* and values of them */
  MUCH = 64,            /* operations of a rule that is not written several times */
  BLOCKS = 32           /* of a multiprocessor */
};

/* ---- choice of a plan ---- */

/* The axis across the lanes; -1: there is one line. */
static int across_of(const ambit__group *g)
{
  int axes[AMBIT_MAX_DIMS];
  const int n = ambit__nest_launched_axes(g, axes);

  return n ? axes[n - 1] : -1;
}

static ambit__nest_lines lines_of(const ambit__target *t, const ambit__plan *p)
{
  return (ambit__nest_lines){.lanes = p->lanes,
                             .cells = (int)p->strip,
                             .ring = p->ahead,
                             .batch = p->rows[0],
                             .vectors = t->dialect->has_lanes};
}

/* Warps that a typical box keeps busy. */
static double warps_of(const ambit__group *g, const ambit__plan *p)
{
  const int x = across_of(g);
  double n = 1;

  for (int d = 0; d < g->ndims; d++)
    if (d == x)
      n *= ceil((double)g->cells[d] / p->lanes);
    else if (d != ambit__sweep_axis(g->sweep))
      n *= (double)g->cells[d];
  return n;
}

static size_t shared_of(const ambit__target *t)
{
  return t->shared && t->shared < SHARED + (SHARED >> 2) ? t->shared - (t->shared >> 2) : SHARED;
}

/* Sets the cells of a tile and the tiles of a ring. false: they do not fit. */
static bool complete(const ambit__group *g, const ambit__target *t, ambit__plan *p)
{
  const int threads = t->threads > 1 ? t->threads : 1;
  const double blocks = fmin(ceil(warps_of(g, p) / threads), BLOCKS);

  for (int cells = TILE; cells >= LEAST_TILE; cells /= 2) {
    ambit__nest_lines f;
    size_t tile;

    p->strip = ambit__min(cells / p->lanes, MOST_CELLS);
    p->ahead = 2;
    f = lines_of(t, p);
    p->ring = ambit__nest_lines_bytes(g, &f, p->ahead);
    if (p->ring > shared_of(t)) continue;
    tile = ambit__nest_lines_bytes(g, &f, 3) - p->ring;
    if (!tile) return false;
    while (p->ahead < MOST_RING && p->ring + tile <= shared_of(t) &&
           (double)tile * (p->ahead - 1) * blocks < IN_FLIGHT) {
      p->ahead++;
      p->ring += tile;
    }
    return true;
  }
  return false;
}

/* Cells that are loaded together. */
static int batch_of(const ambit__group *g)
{
  const int reads = ambit__rule_reads(g->rule);
  int n = MOST_BATCH;

  if (g->rule->flops > MUCH) return 1;
  while (n > 1 && n * reads > MOST_LOADED)
    n /= 2;
  return n;
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  const int x = across_of(g);
  int n = 0, lanes = WARP;

  if (ambit__gpucode_threads(t, WARP) < WARP) return 0;
  while (lanes > 1 && (x < 0 || lanes / 2 >= g->cells[x]))
    lanes /= 2;
  for (; n < most && (!n || lanes >= LEAST_LANES); lanes /= 2) {
    ambit__plan p = {.strategy = &ambit__strategy_lines,
                     .depth = 1,
                     .lanes = lanes,
                     .rows = {batch_of(g), 1},
                     .threads = {WARP, 1, 1},
                     .blocks = ambit__group_reduces(g) ? AMBIT__GPUCODE_FEW : INT32_MAX};

    if (!complete(g, t, &p)) return n;
    plans[n++] = p;
  }
  return n;
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(lines %dx%d ring %d)", p->lanes, (int)p->strip, p->ahead);
}

/* ---- launches ---- */

static void launch_line(const ambit__group *g, const ambit__plan *p, ambit__launch_line *r)
{
  const int x = across_of(g);

  *r = (ambit__launch_line){.ndims = g->ndims, .threads = {WARP, 1, 1}, .most = p->blocks};
  for (int d = 0; d < g->ndims; d++)
    if (d != ambit__sweep_axis(g->sweep)) ambit__launch_line_add(r, 0, d, 0, d == x ? p->lanes : 1);
}

/* ---- code ---- */

/* Memory takes longer for short pieces of rows: across lines, or along them. */
static double parts_of(const ambit__group *g, const ambit__plan *p)
{
  const bool rows = ambit__sweep_axis(g->sweep) == g->ndims - 1;
  double size = 1;

  for (int i = 0; i < g->rule->nparams; i++)
    if (g->bind[i].is_field && !g->bind[i].carried)
      size = fmax(size, (double)ambit_type_size(g->rule->params[i].type));
  if (rows) return 1 + AMBIT__FIT_LINES_ALONG * fmax(0, log2(LONG / size / (double)p->strip));
  return 1 + AMBIT__FIT_LINES_PART * fmax(0, log2(LINE / size / p->lanes));
}

/* A warp copies a tile, computes it and stores it, a cell of its lines after the other. */
static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const ambit__machine *m = ambit__target_machine(t);
  const ambit__price price = ambit__price_bound(g->rule, g->bind, g->ndims);
  const int threads = t->threads > 1 ? t->threads : 1;
  const double tile = (double)p->lanes * (double)p->strip;
  const double ns = tile * AMBIT__FIT_LINES_COPY * m->chain +
                    (double)p->strip * (AMBIT__FIT_LINES_CELL + (double)g->rule->flops) * m->chain;
  const double fit = fmin(BLOCKS, floor((double)m->shared / (double)(p->ring + 1024)));
  const double warps = fmin(warps_of(g, p), fit * (double)threads);

  if (t->is_cpu) return 2 * ambit__gpucode_cell_cost(g, t, p);
  return fmax(price.bytes * parts_of(g, p) / (AMBIT__FIT_LINES * m->copy), ns / tile / warps) +
         AMBIT__FIT_WORKS * ambit__price_work(&price, m, 1);
}

static void emit(ambit__nest *n, const ambit__target *t, const ambit__plan *p, ambit__writer *w)
{
  const ambit__nest_lines f = lines_of(t, p);

  ambit__hoists_begin(&n->hoists, n->rule);
  if (n->dialect->has_lanes) ambit__emit_strips(n);
  ambit__nest_lines_launched(n, &f);
  ambit__emit(n, p, w);
}

const ambit__strategy ambit__strategy_lines = {
    .name = "lines",
    .candidates = candidates,
    .cost = cost,
    .emit = emit,
    .describe = describe,
    .shape = ambit__gpucode_shape,
    .launch_line = launch_line,
};
