/* SPDX-License-Identifier: BSD-3-Clause */
/* tiles.c - on a GPU: a block of threads computes a tile, as nest/tiles.c says. */
#include "plan/gpu.h"

extern const char ambit__prelude_tiles[]; /* embedded by the build */

enum {
  THREADS = 256, /* per block */
  ROWS = 8,      /* of them, if there is a y */
  BLOCKS_PER_MULTIPROCESSOR = 8
};

/* ---- choice of a plan ---- */

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  ambit__plan p = {.strategy = &ambit__strategy_tiles, .depth = 1, .threads = {1, 1, 1}};
  /* Where OpenCL is on a CPU, one thread: with several, PoCL 3.1 loses the stores of `found` in
   * some kernels that begin with a return (docs/notes/gpu.md), and takes three times as long. */
  const int threads = ambit__gpucode_threads(t, t->is_cpu ? 1 : THREADS);
  const int rows = g->ndims == 1 ? 1 : ROWS;

  if (most < 1) return 0;
  p.threads[0] = threads > rows ? threads / rows : threads;
  p.threads[1] = threads / p.threads[0];
  p.blocks = ambit__blocks_busy(g, t, BLOCKS_PER_MULTIPROCESSOR);
  plans[0] = p;
  return 1;
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(tiles %dx%d)", p->threads[0], p->threads[1]);
}

/* A box of n cells along the first axis stands for n tiles. */
static void shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                  ambit__shape *shape)
{
  const int64_t n = box->hi[0] - box->lo[0];

  *shape =
      (ambit__shape){.blocks = {g->tiles == TILES_RELAX && n > p->blocks ? p->blocks : n, 1, 1},
                     .threads = {p->threads[0], p->threads[1], 1}};
}

static void emit(ambit__nest *n, const ambit__target *t, const ambit__plan *p, ambit__writer *w)
{
  (void)t;
  ambit__print(&n->prelude, "#define AMBIT_HEAD %d\n%s", AMBIT__TILES_HEAD, ambit__prelude_tiles);
  ambit__nest_tiles(n, p->threads);
  ambit__emit(n, p, w);
}

const ambit__strategy ambit__strategy_tiles = {
    .name = "tiles",
    .candidates = candidates,
    .cost = ambit__gpucode_cell_cost,
    .emit = emit,
    .describe = describe,
    .shape = shape,
};
