/* SPDX-License-Identifier: BSD-3-Clause */
/* strategies.c - the list of strategies, and the choice among them. */
#include "plan/emit.h"

#include <string.h>

static const ambit__strategy *const strategies[] = {
    &ambit__strategy_once,      &ambit__strategy_rows,   &ambit__strategy_strip,
    &ambit__strategy_cells,     &ambit__strategy_sparse, &ambit__strategy_list,
    &ambit__strategy_fused,     &ambit__strategy_tiles,  &ambit__strategy_checked,
    &ambit__strategy_persistent};

enum { MOST = 64 };

const ambit__machine *ambit__target_machine(const ambit__target *t)
{
  if (t->machine) return t->machine;
  return t->kind == TARGET_GPU ? &ambit__machine_h200 : ambit__machine_recorded("xeon16");
}

double ambit__plan_costs_nothing(const ambit__group *g, const ambit__target *t,
                                 const ambit__plan *p)
{
  return (void)g, (void)t, (void)p, 0;
}

bool ambit__plan_begins(const char *plan, const char *start)
{
  return !start || !strncmp(plan, start, strlen(start));
}

/* The plans of one strategy for a group; returns their number. */
static int list_plans(const ambit__strategy *s, const ambit__group *g, const ambit__target *t,
                      ambit__plan *plans)
{
  const bool fits =
      (s == &ambit__strategy_checked) == (g->checks != 0) &&
      (s == &ambit__strategy_fused || s == &ambit__strategy_persistent) == (g->flow != NULL) &&
      (s == &ambit__strategy_tiles) == (t->kind == TARGET_GPU && g->tiles) &&
      (!g->sweep || s == &ambit__strategy_rows || s == &ambit__strategy_cells);

  return fits && s->applies(g, t) ? s->candidates(g, t, plans, MOST) : 0;
}

static bool is_preferred(const ambit__group *g, const ambit__plan *p)
{
  ambit__text line = {0};
  bool is;

  if (!g->preferred || !*g->preferred) return false;
  p->strategy->describe(p, &line);
  is = line.chars && ambit__plan_begins(line.chars, g->preferred);
  ambit__text_free(&line);
  return is;
}

bool ambit__plan_choose(const ambit__group *g, const ambit__target *t, ambit__plan *plan)
{
  double least = -1;
  bool preferred = false;

  for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
    ambit__plan plans[MOST];
    const int n = list_plans(strategies[i], g, t, plans);

    for (int k = 0; k < n; k++) {
      const double cost = strategies[i]->cost(g, t, &plans[k]);
      const bool better = is_preferred(g, &plans[k]);

      if (preferred && !better) continue;
      if (preferred == better && least >= 0 && cost >= least) continue;
      preferred = better;
      least = cost;
      *plan = plans[k];
    }
  }
  return least >= 0;
}

/* Insertion sort: there are few, and equal ones stay in order. */
static void sort_plans(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int n)
{
  double costs[MOST];

  for (int i = 0; i < n; i++) {
    const ambit__plan plan = plans[i];
    const double cost = plan.strategy->cost(g, t, &plan);
    int k = i;

    for (; k > 0 && costs[k - 1] > cost; k--) {
      costs[k] = costs[k - 1];
      plans[k] = plans[k - 1];
    }
    costs[k] = cost;
    plans[k] = plan;
  }
}

int ambit__plan_candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans,
                           int most)
{
  int total = 0;

  for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
    ambit__plan some[MOST];
    const int n = list_plans(strategies[i], g, t, some);

    sort_plans(g, t, some, n);
    for (int k = 0; k < n && total < most; k++)
      plans[total++] = some[k];
  }
  return total;
}

void ambit__plan_list(const ambit__group *g, const ambit__target *t, ambit__text *lines)
{
  ambit__plan plans[2 * MOST];
  const int n = ambit__plan_candidates(g, t, plans, 2 * MOST);

  for (int i = 0; i < n; i++) {
    plans[i].strategy->describe(&plans[i], lines);
    ambit__print(lines, "\n");
  }
}
