/* stream.c - on a GPU: a warp goes along the grid with a strip of it in registers.
 *
 * For grids of two dimensions and more whose fields lie cell beside cell. Every value is loaded once, 16 bytes at a
 * time and some planes ahead of its use, which keeps more memory accesses under way than one cell per thread can.
 * docs/design/0003-gpu-stream.md tells why, and what it comes to.
 *
 *   (stream window 4x2 ahead 1 warps 4 resident 4 depth 1)
 *
 * form, cells of a lane in a row, rows of a warp in a plane, planes loaded ahead, warps of a block, blocks of a
 * multiprocessor, iterations.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "plan/stream.h"
#include "plan/recipe.h"

#include <math.h>

enum {
  WARP = 32,
  WARPS = 4,            /* of a block */
  REGISTERS = 65536,    /* of a multiprocessor */
  MOST_REGISTERS = 248, /* of a thread */
  MOST_RESIDENT = 8,    /* blocks that are worth having */
  MOST_WORK = 4096,     /* operations in the unrolled loop */
  MOST_BLOCKS = 65535,  /* along y and z: the limit of CUDA */
  LEAST_PLANES = 8,     /* of a chunk */
  MOST_WAVES = 8,       /* of blocks */
  START = 4             /* planes that could be computed while a block begins */
};

static int64_t min64(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t quotient_up(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* ---- which plans ---- */

static bool fields_fit(const ambit__group *g)
{
  const ambit__rule *rule = g->steps[0].rule;
  int n = 0;

  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *p = &rule->params[i];
    const ambit__binding *b = &g->steps[0].bind[i];

    if (p->kind != PARAM_FIELD || !b->is_field) continue;
    if (!b->unit || b->shared || (p->is_written && p->reads_neighbours)) return false;
    n++;
  }
  return n > 0;
}

/* Bytes that a multiprocessor has under way with a plan: loads of planes ahead. */
static double bytes_under_way(const ambit__stream_job *j, const ambit__plan *p,
                              const ambit__rule *r)
{
  double bytes = 0;

  for (int i = 0; i < j->nstreams; i++)
    for (int q = 0; q < j->streams[i].nrows; q++)
      bytes += (double)j->streams[i].rows[q].is_read *
               (double)ambit_type_size(r->params[j->streams[i].param].type);
  return bytes * WARP * j->lane * p->ahead * p->resident * WARPS;
}

/* Completes a plan: how many blocks of it fit. False if it does not fit at all. */
static bool complete(const ambit__group *g, const ambit__target *t, ambit__plan *p)
{
  const ambit__rule *rule = g->steps[0].rule;
  ambit__stream_job j;
  int registers;
  bool fits;

  if (!ambit__stream_begin(g, p, &j)) return false;
  registers = ambit__stream_registers(g, p, &j);
  fits = registers <= MOST_REGISTERS && (rule->flops + 1) * j.lane * j.rows * j.period <= MOST_WORK;
  ambit__stream_end(&j);
  p->resident = REGISTERS / (WARP * WARPS) / (fits ? (registers + 7) / 8 * 8 : REGISTERS);
  if (p->resident > MOST_RESIDENT) p->resident = MOST_RESIDENT;
  p->wave = p->resident * t->threads;
  return fits;
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  static const int rows[] = {4, 2, 1};
  int n = 0;

  for (int sums = 0; sums <= !g->strict; sums++)
    for (int r = g->ndims > 2 ? 0 : 2; r < 3; r++)
      for (int ahead = 1; ahead <= (g->ndims > 2 ? 2 : 4); ahead++) {
        ambit__plan p = {.strategy = &ambit__strategy_stream,
                         .depth = 1,
                         .strip = ambit__stream_lane(g),
                         .rows = {rows[r], 1},
                         .threads = {WARP, WARPS, 1},
                         .sums = sums,
                         .ahead = ahead};

        if (g->ndims > 2 && g->cells[g->ndims - 2] < 4 * rows[r] + 2 * AMBIT__STREAM_REACH)
          continue;
        if (n < most && p.strip && complete(g, t, &p)) plans[n++] = p;
      }
  return n;
}

/* Whether a box of this size keeps all multiprocessors busy: 16 warps with a chunk each. */
static bool is_large(const ambit__group *g, const ambit__target *t)
{
  const int64_t wide = WARP * ambit__stream_lane(g);
  int64_t planes = quotient_up(g->cells[g->ndims - 1], wide);

  for (int d = 0; d < g->ndims - 1; d++)
    planes *= g->cells[d];
  return g->cells[g->ndims - 1] >= wide / 2 && planes >= (int64_t)LEAST_PLANES * 16 * t->threads;
}

static bool applies(const ambit__group *g, const ambit__target *t)
{
  return t->kind == TARGET_GPU && t->dialect->stream && t->warp == WARP &&
         (t->max_threads == 0 || t->max_threads >= WARP * WARPS) && g->nsteps == 1 &&
         g->depth == 1 && g->ndims >= 2 && fields_fit(g) && is_large(g, t);
}

/* Nanoseconds per cell of a large GPU: what must be moved, more if too little is under way or rows are read by
 * several warps. */
static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const ambit__rule *rule = g->steps[0].rule;
  const double wanted = 32 << 10; /* bytes under way */
  double ns = ambit__price_of(rule).bytes / 2000, under_way, again = 0;
  ambit__stream_job j;

  (void)t;
  if (!ambit__stream_begin(g, p, &j)) return 1e9;
  under_way = bytes_under_way(&j, p, rule);
  for (int i = 0; i < j.nstreams; i++)
    again += (double)(j.streams[i].below + j.streams[i].above) / (j.rows * WARPS * j.nstreams);
  if (under_way > 0 && under_way < wanted) ns *= 0.5 + 0.5 * wanted / under_way;
  ns *= 1 + 0.1 * again;
  if (p->resident < 4) ns *= 1 + 0.02 * (4 - p->resident) * (4 - p->resident); /* few warps */
  ns *= 1 + 0.01 * j.period / MOST_RESIDENT; /* less code is better */
  ambit__stream_end(&j);
  return ns;
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(stream %s %dx%d ahead %d warps %d resident %d depth %d)",
               p->sums ? "sum" : "window", (int)p->strip, p->rows[0], p->ahead, p->threads[1],
               p->resident, p->depth);
}

/* ---- launches ---- */

/* Planes that a chunk reads and another one also does. */
static int overlap_of(const ambit__group *g, int axis)
{
  const ambit__rule *rule = g->steps[0].rule;
  int overlap = 0;

  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].low[axis] + rule->params[i].high[axis] > overlap)
      overlap = rule->params[i].low[axis] + rule->params[i].high[axis];
  return overlap;
}

/* Whether neighbours along the last axis are read, so that the ends of a strip are not stored. */
static bool has_halo(const ambit__group *g)
{
  return overlap_of(g, g->ndims - 1) > 0;
}

/* How long a launch takes, in planes of a warp, if its blocks run in waves and the last of them is not quite even. */
static double duration(double blocks, double wave, double planes, double overlap, int64_t chunks)
{
  const double length = planes / (double)chunks + overlap + START;

  return (ceil(blocks * (double)chunks / wave) + 0.1) * length;
}

/* The best number of chunks: whole waves of blocks, and long chunks because planes between two are read twice. */
static int64_t chunks_of(const ambit__group *g, const ambit__plan *p, int64_t planes,
                         int64_t blocks)
{
  const int overlap = overlap_of(g, g->ndims > 2 ? g->ndims - 3 : 0);
  const int64_t wave = p->wave ? p->wave : 1;
  int64_t most = min64(planes / LEAST_PLANES, MOST_BLOCKS), best = 1;

  if (ambit__gpu_reduces(g)) most = min64(most, AMBIT__GPU_PARTIALS / blocks);
  for (int i = 1; i <= 2 * MOST_WAVES; i++) {
    const int64_t chunks = i <= MOST_WAVES ? i * wave / blocks : i - MOST_WAVES;

    if (chunks < 1 || chunks > most) continue;
    if (duration((double)blocks, (double)wave, (double)planes, overlap, chunks) <
        duration((double)blocks, (double)wave, (double)planes, overlap, best))
      best = chunks;
  }
  return best;
}

static void shape(const ambit__group *g, const ambit__plan *p, const int64_t *cells,
                  ambit__shape *shape)
{
  const int last = g->ndims - 1, lane = (int)p->strip;
  const int64_t strips = quotient_up(cells[last] + lane - 1, (WARP - 2 * has_halo(g)) * lane);
  const int64_t most = ambit__gpu_reduces(g) ? AMBIT__GPU_PARTIALS : INT32_MAX;
  int64_t tiles = quotient_up(strips, WARPS), outer = 1;

  if (g->ndims > 2) tiles = strips * quotient_up(cells[last - 1], WARPS * p->rows[0]);
  for (int d = 0; d < last - 2; d++)
    outer *= cells[d];
  tiles = min64(tiles, most);
  outer = min64(outer, min64(MOST_BLOCKS, most / tiles));
  *shape = (ambit__shape){
      .blocks = {tiles, chunks_of(g, p, cells[g->ndims > 2 ? last - 2 : 0], tiles * outer), outer},
      .threads = {p->threads[0], p->threads[1], p->threads[2]}};
}

/* A box of few rows computes rows beside it (stream_emit.c), which a thin part does not have. A face of a part has too
 * few cells for strips to pay. */
static bool suits(const ambit__group *g, const ambit__plan *p, const int64_t *cells,
                  const int64_t *own)
{
  const int last = g->ndims - 1, z = g->ndims > 2 ? last - 2 : 0;

  if (g->ndims > 2 && own[last - 1] < p->rows[0] + 2 * AMBIT__STREAM_REACH) return false;
  if (g->ndims > 2 && cells[last - 1] < p->rows[0]) return false;
  return cells[last] >= WARP * p->strip / 2 && cells[z] >= min64(LEAST_PLANES, g->cells[z]);
}

/* Chunks are as long as on the box that was planned for. Boxes too low for the rows of a warp (see candidates), or
 * narrower than planned for, are left to others. */
static void recipe(const ambit__group *g, const ambit__plan *p, ambit__recipe *r)
{
  const int last = g->ndims - 1, lane = (int)p->strip, z = g->ndims > 2 ? last - 2 : 0;
  const int64_t strip = (WARP - 2 * has_halo(g)) * lane;
  ambit__shape here;

  shape(g, p, g->cells, &here);
  *r = (ambit__recipe){.ndims = g->ndims,
                       .threads = {p->threads[0], p->threads[1], p->threads[2]},
                       .most = ambit__gpu_reduces(g) ? AMBIT__GPU_PARTIALS : 0};
  r->least[last] = WARP * lane / 2;
  if (g->ndims > 2) r->least[last - 1] = 4 * p->rows[0] + 2 * AMBIT__STREAM_REACH;
  ambit__recipe_add(r, 0, last, lane - 1, g->ndims > 2 ? strip : strip * WARPS);
  if (g->ndims > 2) ambit__recipe_add(r, 0, last - 1, 0, (int64_t)WARPS * p->rows[0]);
  ambit__recipe_add(r, 1, z, 0, quotient_up(g->cells[z], here.blocks[1]));
  for (int d = 0; d < z; d++)
    ambit__recipe_add(r, 2, d, 0, 1);
}

const ambit__strategy ambit__strategy_stream = {
    .name = "stream",
    .applies = applies,
    .candidates = candidates,
    .cost = cost,
    .emit = ambit__stream_emit,
    .describe = describe,
    .shape = shape,
    .suits = suits,
    .recipe = recipe,
};
