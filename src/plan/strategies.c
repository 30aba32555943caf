/* SPDX-License-Identifier: BSD-3-Clause */
/* strategies.c - the strategies of a group, and the choice among them. */
#include "plan/emit.h"

#include <string.h>

enum { MOST = 64, KINDS = 2 };

static int take(const ambit__strategy *found[KINDS], const ambit__strategy *first,
                const ambit__strategy *second)
{
  found[0] = first;
  found[1] = second;
  return 1 + (second != NULL);
}

/* The strategies that can generate a group; returns their number. */
static int find(const ambit__group *g, const ambit__target *t, const ambit__strategy *found[KINDS])
{
  const bool gpu = t->kind == TARGET_GPU;

  if ((g->checks && g->flow) || (gpu && g->tiles && g->form) || (g->depth != 1 && !g->flow))
    return 0;
  if (g->flow) return take(found, &ambit__strategy_fused, &ambit__strategy_persistent);
  if (!g->ndims) return take(found, &ambit__strategy_once, NULL);
  if (gpu && g->tiles) return take(found, &ambit__strategy_tiles, NULL);
  if (gpu && g->form) return take(found, &ambit__strategy_sparse, NULL);
  if (g->checks) return take(found, &ambit__strategy_cells, NULL);
  if (gpu && ambit__group_folded(g))
    return take(found, ambit__group_is_binned(g) ? &ambit__strategy_bins : &ambit__strategy_folds,
                NULL);
  if (gpu && g->sweep) return take(found, &ambit__strategy_lines, &ambit__strategy_cells);
  if (gpu) return take(found, &ambit__strategy_strip, &ambit__strategy_cells);
  return take(found, &ambit__strategy_rows, g->form ? NULL : &ambit__strategy_cells);
}

const ambit__machine *ambit__target_machine(const ambit__target *t)
{
  if (t->machine) return t->machine;
  return t->kind == TARGET_GPU ? &ambit__machine_h200 : ambit__machine_recorded("xeon16");
}

bool ambit__plan_begins(const char *plan, const char *start)
{
  return !start || !strncmp(plan, start, strlen(start));
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

/* Sorts n plans by their estimates. Insertion sort: there are few, and equal ones stay in order. */
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
  const ambit__strategy *strategies[KINDS];
  const int kinds = find(g, t, strategies);
  int total = 0;

  for (int i = 0; i < kinds; i++) {
    const ambit__strategy *s = strategies[i];
    ambit__plan some[MOST];
    const int n = !s->applies || s->applies(g, t) ? s->candidates(g, t, some, MOST) : 0;

    sort_plans(g, t, some, n);
    for (int k = 0; k < n && total < most; k++)
      plans[total++] = some[k];
  }
  return total;
}

bool ambit__plan_choose(const ambit__group *g, const ambit__target *t, ambit__plan *plan)
{
  ambit__plan plans[KINDS * MOST];
  const int n = ambit__plan_candidates(g, t, plans, KINDS * MOST);
  bool preferred = false;
  double least = 0;

  for (int i = 0; i < n; i++) {
    const bool better = is_preferred(g, &plans[i]),
               sorted = i && plans[i].strategy == plan->strategy;
    double cost;

    if (preferred > better || (preferred == better && sorted)) continue;
    cost = plans[i].strategy->cost(g, t, &plans[i]);
    if (i && preferred == better && cost >= least) continue;
    preferred = better;
    least = cost;
    *plan = plans[i];
  }
  return n > 0;
}

void ambit__plan_list(const ambit__group *g, const ambit__target *t, ambit__text *lines)
{
  ambit__plan plans[KINDS * MOST];
  const int n = ambit__plan_candidates(g, t, plans, KINDS * MOST);

  for (int i = 0; i < n; i++) {
    plans[i].strategy->describe(&plans[i], lines);
    ambit__print(lines, "\n");
  }
}
