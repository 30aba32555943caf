/* SPDX-License-Identifier: BSD-3-Clause */
/* strategies.c - the list of strategies, and the choice among them. */
#include "plan/emit.h"

#include <string.h>

static const ambit__strategy *const strategies[] = {&ambit__strategy_once,   &ambit__strategy_rows,
                                                    &ambit__strategy_stream, &ambit__strategy_cells,
                                                    &ambit__strategy_sparse, &ambit__strategy_fused,
                                                    &ambit__strategy_checked};

enum { MOST = 64 };

static bool is_preferred(const ambit__target *t, const ambit__plan *p)
{
  ambit__text line = {0};
  bool is;

  if (!t->preferred || !*t->preferred) return false;
  p->strategy->describe(p, &line);
  is = line.chars && !strncmp(line.chars, t->preferred, strlen(t->preferred));
  ambit__text_free(&line);
  return is;
}

bool ambit__plan_choose(const ambit__group *g, const ambit__target *t, ambit__plan *plan)
{
  double least = -1;
  bool preferred = false;

  for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
    ambit__plan plans[MOST];
    bool fits = (strategies[i] == &ambit__strategy_checked) == (g->checks != 0) &&
                (strategies[i] == &ambit__strategy_fused) == (g->pipeline != NULL);
    int n = fits && strategies[i]->applies(g, t) ? strategies[i]->candidates(g, t, plans, MOST) : 0;

    for (int k = 0; k < n; k++) {
      const double cost = strategies[i]->cost(g, t, &plans[k]);
      const bool better = is_preferred(t, &plans[k]);

      if (preferred && !better) continue;
      if (preferred == better && least >= 0 && cost >= least) continue;
      preferred = better;
      least = cost;
      *plan = plans[k];
    }
  }
  return least >= 0;
}
