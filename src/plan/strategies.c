/* SPDX-License-Identifier: BSD-3-Clause */
/* strategies.c - the list of strategies, and the choice among them. */
#include "plan/emit.h"

static const ambit__strategy *const strategies[] = {&ambit__strategy_once, &ambit__strategy_rows,
                                                    &ambit__strategy_stream, &ambit__strategy_cells,
                                                    &ambit__strategy_checked};

enum { MOST = 16 };

bool ambit__plan_choose(const ambit__group *g, const ambit__target *t, ambit__plan *plan)
{
  double least = -1;

  for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
    ambit__plan plans[MOST];
    bool fits = (strategies[i] == &ambit__strategy_checked) == (g->checks != 0);
    int n = fits && strategies[i]->applies(g, t) ? strategies[i]->candidates(g, t, plans, MOST) : 0;

    for (int k = 0; k < n; k++) {
      double cost = strategies[i]->cost(g, t, &plans[k]);

      if (least >= 0 && cost >= least) continue;
      least = cost;
      *plan = plans[k];
    }
  }
  return least >= 0;
}
