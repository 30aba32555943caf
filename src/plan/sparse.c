/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse.c - on a GPU, on a sparse grid: a thread computes a unit of active cells at a time, as
 * nest/units.c says. In a list, cells have words of their own instead of lines. */
#include "plan/fitted.h"
#include "plan/gpu.h"

#include "grid/assignment.h"

enum {
  THREADS = 256,    /* per block */
  FEW_BYTES = 16,   /* per cell: a thread that moves no more than this computes vectors of cells */
  SOME_BYTES = 256, /* the same, for short ones */
  BLOCKS_PER_MULTIPROCESSOR = 32,
  FEW_BLOCKS = 8, /* the same, of the widest units: as many as it runs at once */
  RESIDENT = 2    /* ... of units of several rows, whose values are all on their way at once */
};

/* ---- choice of a plan ---- */

static int64_t blocks_of(const ambit__group *g, const ambit__target *t, int wide)
{
  return ambit__blocks_busy(g, t, wide == AMBIT__QUAD ? FEW_BLOCKS : BLOCKS_PER_MULTIPROCESSOR);
}

static ambit__plan plan_of(const ambit__group *g, const ambit__target *t, int wide, const int *rows)
{
  return (ambit__plan){.strategy = &ambit__strategy_sparse,
                       .depth = 1,
                       .rows = {rows[0], rows[1]},
                       .wide = wide,
                       .threads = {ambit__gpucode_threads(t, THREADS), 1, 1},
                       .blocks = blocks_of(g, t, wide),
                       .resident = ambit__assignment_rows(rows) > 1 ? RESIDENT : 0};
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  /* strict sums are too much code for every cell of many rows */
  const int shapes = ambit__group_sums_exactly(g) ? 1 : AMBIT__ASSIGNMENT_SHAPES;
  int n = 0;

  if (g->form->list || g->checks) {
    plans[0] = plan_of(g, t, 1, ambit__assignment_shapes[0]);
    return 1;
  }
  for (int wide = 1; wide < AMBIT__QUAD && n < most; wide *= 2)
    plans[n++] = plan_of(g, t, wide, ambit__assignment_shapes[0]);
  for (int i = 0; i < shapes && n < most; i++)
    if (ambit__assignment_suits(g->form, g->ndims, ambit__assignment_shapes[i]))
      plans[n++] = plan_of(g, t, AMBIT__QUAD, ambit__assignment_shapes[i]);
  return n;
}

/* Vectors save instructions, and take registers, most of all where cells make tests: D3Q19 in float
 * with bounce-back has 120 with units of two cells, and 80 with one. Cells that are apart need no
 * vectors. */
static int wide_for(const ambit__group *g, const ambit__target *t)
{
  const double bytes = ambit__price_of(g->rule).bytes;

  if (t->is_cpu) return 1;
  for (int i = 0; i < g->rule->nparams; i++)
    if (g->rule->params[i].kind == PARAM_FIELD && g->bind[i].is_field && !g->bind[i].contiguous)
      return 1;
  if (bytes <= FEW_BYTES) return 4;
  return bytes <= SOME_BYTES && !g->form->ntests ? 2 : 1;
}

/* Adds a component of a parameter. */
static void add_load(const ambit__param *p, int component, ambit__assignment_load *load)
{
  const int registers = ambit__assignment_registers(ambit_type_size(p->type));
  bool reads = false, beside = false;

  for (int k = 0; k < p->nreads; k++) {
    if (p->reads[k].component != component) continue;
    reads = true;
    for (int d = 0; d < AMBIT_MAX_DIMS; d++)
      beside |= p->reads[k].offset[d] != 0;
  }
  if (beside)
    load->beside += registers;
  else if (reads)
    load->own += registers;
}

static const int *rows_for(const ambit__group *g, const ambit__target *t)
{
  const ambit__rule *rule = g->rule;
  ambit__assignment_load load = {0};

  if (wide_for(g, t) < AMBIT__QUAD || ambit__group_sums_exactly(g))
    return ambit__assignment_shapes[0];
  for (int i = 0; i < rule->nparams; i++)
    for (int c = 0; rule->params[i].kind == PARAM_FIELD && c < rule->params[i].components; c++)
      add_load(&rule->params[i], c, &load);
  return ambit__assignment_best(g->form, g->ndims, g->stacked, &load);
}

static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const double bytes = ambit__price_of(g->rule).bytes, copy = ambit__target_machine(t)->copy;
  const int *rows;
  bool best;

  if (g->form->list)
    return (bytes + 4.0 * ambit__assignment_number(g->form)) / (AMBIT__FIT_SPARSE * copy);
  rows = rows_for(g, t);
  best = p->wide == wide_for(g, t) && p->rows[0] == rows[0] && p->rows[1] == rows[1];
  return bytes / ((best ? AMBIT__FIT_SPARSE : AMBIT__FIT_SPARSE_SLOW) * copy);
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(sparse %d wide %d", p->threads[0], p->wide);
  if (ambit__assignment_rows(p->rows) > 1) ambit__print(t, " rows %dx%d", p->rows[0], p->rows[1]);
  ambit__print(t, ")");
}

/* ---- launches ---- */

int64_t ambit__sparse_share(const ambit__plan *p, int64_t units)
{
  const int64_t turn = p->threads[0], turns = (units + turn - 1) / turn;

  return (turns + p->blocks - 1) / p->blocks * turn;
}

static void shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                  ambit__shape *shape)
{
  const int64_t units = box->hi[0] - box->lo[0], share = ambit__sparse_share(p, units);

  (void)g;
  *shape = (ambit__shape){.blocks = {(units + share - 1) / share, 1, 1},
                          .threads = {p->threads[0], 1, 1}};
}

static void emit(ambit__nest *n, const ambit__target *t, const ambit__plan *p, ambit__writer *w)
{
  (void)t;
  ambit__emit_strips(n);
  ambit__nest_units(n, p->threads[0], p->wide, p->rows);
  ambit__emit(n, p, w);
}

const ambit__strategy ambit__strategy_sparse = {
    .name = "sparse",
    .candidates = candidates,
    .cost = cost,
    .emit = emit,
    .describe = describe,
    .shape = shape,
};
