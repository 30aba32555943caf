/* SPDX-License-Identifier: BSD-3-Clause */
/* checked.c - one cell at a time, on any device, with every access and every result checked: the
 * plain nests of other strategies, changed by the pass of nest/checked.c. */
#include "nest/checked.h"

#include "plan/gpu.h"

enum { THREADS = 128 }; /* per block */

/* Embedded by the build. */
extern const char ambit__prelude_faults[], ambit__prelude_checked[], ambit__prelude_full_call[];
#ifdef AMBIT_ACCESS_CHECKS
extern const char ambit__prelude_limits[], ambit__prelude_access[];
#endif

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  const int threads = ambit__gpucode_threads(t, t->kind == TARGET_GPU && g->ndims ? THREADS : 1);

  plans[0] = (ambit__plan){.strategy = &ambit__strategy_checked,
                           .depth = 1,
                           .rows = {1, 1},
                           .wide = g->form ? 1 : 0,
                           .threads = {threads, 1, 1},
                           .blocks = AMBIT__GPUCODE_FEW};
  return 1;
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  (void)p;
  ambit__print(t, "(checked)");
}

/* The strategy whose launches and loops it has. */
static const ambit__strategy *base_of(const ambit__group *g)
{
  return g->form    ? &ambit__strategy_sparse
         : g->ndims ? &ambit__strategy_cells
                    : &ambit__strategy_once;
}

static void shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                  ambit__shape *shape)
{
  base_of(g)->shape(g, p, box, shape);
}

static void build(ambit__nest *n, const ambit__plan *p)
{
  const ambit__rows rows = {.rows = {1, 1}, .plain = true};

  n->loads_first = true;
  if (!n->group->ndims)
    ambit__nest_once(n);
  else if (!n->dialect->kernel)
    ambit__nest_rows(n, &rows);
  else if (n->group->form)
    ambit__nest_units(n, p->threads[0], 1, p->rows);
  else
    ambit__nest_cells_launched(n, p->threads, 1);
  ambit__nest_check(n);
}

static void print_prelude(const ambit__target *t, ambit__nest *n)
{
  const ambit__group *g = n->group;
  ambit__text *prelude = &n->prelude;

  if (t->kind == TARGET_C) ambit__print(prelude, "%s", ambit__prelude_full_call);
  if (t->kind == TARGET_GPU && g->form) ambit__emit_strips(n);
  ambit__print(prelude, "%s\n%s\n", ambit__prelude_faults, ambit__prelude_checked);
#ifdef AMBIT_ACCESS_CHECKS
  if (g->checks & AMBIT__CHECK_ACCESS)
    ambit__print(prelude, "%s\n%s\n", ambit__prelude_limits, ambit__prelude_access);
#endif
}

static void emit(ambit__nest *n, const ambit__target *t, const ambit__plan *p, ambit__writer *w)
{
  build(n, p);
  print_prelude(t, n);
  ambit__emit(n, p, w);
}

const ambit__strategy ambit__strategy_checked = {
    .name = "checked",
    .candidates = candidates,
    .cost = ambit__plan_costs_nothing,
    .emit = emit,
    .describe = describe,
    .shape = shape,
};
