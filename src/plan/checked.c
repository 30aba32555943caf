/* SPDX-License-Identifier: BSD-3-Clause */
/* checked.c - one cell at a time, on any device, with every access and every result checked. */
#include "plan/checked.h"

#include "plan/sparse.h"

#include <string.h>

/* ---- the numbers of reads and writes ---- */

static int count_reads(const ambit__param *p)
{
  return p->kind == PARAM_FIELD ? p->nreads : p->kind == PARAM_VALUE;
}

static int count_writes(const ambit__param *p)
{
  return p->kind == PARAM_FIELD ? p->components : p->kind == PARAM_REDUCE;
}

static int number_of(const ambit__rule *rule, int (*count)(const ambit__param *), int param, int k)
{
  for (int i = 0; i < param; i++)
    k += count(&rule->params[i]);
  return k;
}

static void find(const ambit__rule *rule, int (*count)(const ambit__param *), int number,
                 int *param, int *k)
{
  for (*param = 0; *param + 1 < rule->nparams; ++*param) {
    int n = count(&rule->params[*param]);

    if (number < n) break;
    number -= n;
  }
  *k = number;
}

int ambit__checked_read(const ambit__rule *rule, int param, int k)
{
  return number_of(rule, count_reads, param, k);
}

int ambit__checked_write(const ambit__rule *rule, int param, int component)
{
  return number_of(rule, count_writes, param, component);
}

void ambit__checked_find_read(const ambit__rule *rule, int number, int *param, int *k)
{
  find(rule, count_reads, number, param, k);
}

void ambit__checked_find_write(const ambit__rule *rule, int number, int *param, int *component)
{
  find(rule, count_writes, number, param, component);
}

int ambit__checked_which(const ambit__param *p, const ambit__expr *e)
{
  int k = 0;

  while (k + 1 < p->nreads && (p->reads[k].component != e->component ||
                               memcmp(p->reads[k].offset, e->offset, sizeof e->offset) != 0))
    k++;
  return k;
}

int ambit__checked_named(const ambit__param *p, const ambit__expr *e)
{
  return ambit__checked_which(p, e->clamped ? e->clamped : e);
}

int ambit__checked_old(const ambit__param *p, int component)
{
  ambit__expr e = {.component = component};

  memcpy(e.offset, ambit__param_target(p, component), sizeof e.offset);
  return ambit__checked_which(p, &e);
}

/* ---- the plan ---- */

static bool applies(const ambit__group *g, const ambit__target *t)
{
  (void)t;
  return g->checks && g->nsteps == 1 && g->depth == 1;
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  int threads = t->kind == TARGET_GPU && g->ndims ? AMBIT__CHECKED_THREADS : 1;

  if (most < 1) return 0;
  while (t->max_threads > 0 && threads > t->max_threads)
    threads /= 2;
  plans[0] = (ambit__plan){.strategy = &ambit__strategy_checked,
                           .depth = 1,
                           .rows = {1, 1},
                           .wide = g->form ? 1 : 0,
                           .threads = {threads, 1, 1},
                           .blocks = g->form ? AMBIT__GPUCODE_FEW : 0};
  return 1;
}

/* With checks there is no other strategy. */
static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  (void)g;
  (void)t;
  (void)p;
  return 0;
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  (void)p;
  ambit__print(t, "(checked)");
}

static void shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                  ambit__shape *shape)
{
  int64_t blocks = 1;

  if (g->form) {
    ambit__sparse_shape(g, p, box, shape);
    return;
  }
  for (int d = 0; d < g->ndims; d++)
    blocks *= box->hi[d] - box->lo[d];
  blocks = (blocks + p->threads[0] - 1) / p->threads[0];
  if (blocks > AMBIT__GPUCODE_FEW) blocks = AMBIT__GPUCODE_FEW;
  *shape = (ambit__shape){.blocks = {blocks, 1, 1}, .threads = {p->threads[0], 1, 1}};
}

const ambit__strategy ambit__strategy_checked = {
    .name = "checked",
    .applies = applies,
    .candidates = candidates,
    .cost = cost,
    .emit = ambit__checked_emit,
    .describe = describe,
    .shape = shape,
};
