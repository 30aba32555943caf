/* SPDX-License-Identifier: BSD-3-Clause */
/* bins.c - on a GPU: cells are folded into components whose numbers they compute (nest/bins.c). */
#include "base/integers.h"
#include "nest/nest.h"
#include "plan/gpu.h"

#include <stdlib.h>

enum {
  WARP = 32,
  THREADS = 512,    /* of a block that counts, */
  TABLES = 32,      /* with so many tables at most, */
  BYTES = 36 << 10, /* in so much shared memory */
  RESIDENT = 3,     /* blocks of a multiprocessor, */
  ALONE = 16,       /* and of those whose threads have tables of their own */
  EACH = 8,         /* cells of a thread that it loads together */
  MOST_AMOUNT = 16, /* an element of 32 bits has room for such amounts of all cells of a block: */
  MOST_CELLS = 1 << 26
};

/* ---- choice of a plan ---- */

/* Whether elements of 32 bits are wide enough: their sum is taken modulo 2^32, or is small. */
static bool is_narrow(const ambit__param *p)
{
  if (p->reduce != REDUCE_SUM || ambit__type_is_real(p->type)) return false;
  for (int k = 0; ambit_type_size(p->type) > sizeof(int32_t) && k < p->components / 2; k++)
    if (!p->amounts[k] || llabs(p->amounts[k]->value.integer) * (p->components / 2) > MOST_AMOUNT)
      return false;
  return true;
}

/* Cells along a row for each thread: several where a warp has several vectors of them. */
static int each_of(const ambit__plan *p)
{
  return p->threads[0] < WARP ? 1 : p->rows[0];
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  ambit__plan p = {.strategy = &ambit__strategy_bins, .depth = 1, .rows = {EACH, 1}};
  const int64_t row = g->cells[g->ndims - 1];
  const size_t bytes = t->shared && t->shared < BYTES ? t->shared : BYTES;
  size_t elements = 0, size;
  bool counts = true;
  int threads;

  if (most < 1) return 0;
  for (int i = 0; i < g->rule->nparams; i++) {
    if (!g->bind[i].onto) continue;
    counts &= is_narrow(&g->rule->params[i]);
    elements += (size_t)g->rule->params[i].bins + 1;
  }
  size = counts ? sizeof(int32_t) : sizeof(int64_t);
  for (p.lanes = TABLES; p.lanes > 1 && (size_t)p.lanes * elements * size > bytes;)
    p.lanes /= 2;
  threads = counts ? ambit__gpucode_threads(t, THREADS) : p.lanes;
  for (p.threads[0] = 1; 2 * p.threads[0] <= threads && 2 * p.threads[0] * each_of(&p) <= row;)
    p.threads[0] *= 2;
  p.threads[1] = threads / p.threads[0];
  p.threads[2] = 1;
  p.axes[1] = g->ndims - 1; /* of pieces: device/gpu/fold.c folds it with many threads */
  p.resident = counts && !t->is_cpu ? RESIDENT : 0;
  p.blocks = (int64_t)(t->threads > 1 ? t->threads : 1) * (counts ? RESIDENT : ALONE);
  plans[0] = p;
  return 1;
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(bins %dx%d tables %d each %d)", p->threads[0], p->threads[1], p->lanes,
               p->rows[0]);
}

/* ---- launches ---- */

static void shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                  ambit__shape *shape)
{
  const int last = g->ndims - 1, piece = p->threads[0] * p->rows[0];
  const int64_t along = (box->hi[last] - box->lo[last] + piece - 1) / piece;
  const int64_t cells = ambit__box_volume(box);
  const int64_t rows =
      (cells / (box->hi[last] - box->lo[last]) + p->threads[1] - 1) / p->threads[1];
  const int64_t blocks = ambit__max64(p->blocks, cells / MOST_CELLS);

  *shape = (ambit__shape){.threads = {p->threads[0], p->threads[1], 1}, .share = 1};
  shape->blocks[1] = ambit__min64(rows, blocks);
  shape->blocks[0] = ambit__max64(1, ambit__min64(along, blocks / shape->blocks[1]));
  shape->blocks[2] = 1;
  shape->pieces = shape->blocks[0] * shape->blocks[1];
}

/* ---- code ---- */

static void emit(ambit__nest *n, const ambit__target *t, const ambit__plan *p, ambit__writer *w)
{
  const ambit__nest_bins b = {
      .threads = {p->threads[0], p->threads[1]}, .each = p->rows[0], .tables = p->lanes};

  (void)t;
  ambit__hoists_begin(&n->hoists, n->rule);
  ambit__nest_binned(n, &b);
  ambit__emit(n, p, w);
}

const ambit__strategy ambit__strategy_bins = {
    .name = "bins",
    .candidates = candidates,
    .cost = ambit__gpucode_cell_cost,
    .emit = emit,
    .describe = describe,
    .shape = shape,
};
