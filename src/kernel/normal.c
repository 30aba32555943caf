/* SPDX-License-Identifier: BSD-3-Clause */
/* normal.c - rules in normal form: passes over the graph of a rule (docs/design/0024-rule.md). */
#include "kernel/graph.h"

enum { MOST_NODES = 4000 * 1000 };

ambit_status ambit__rule_normal(ambit__errors *errors, const ambit__rule *rule, int64_t extent,
                                bool strict, ambit__rule **out)
{
  const bool places = rule->max_axis >= 0;
  ambit__graph g = {.errors = errors,
                    .rule = rule,
                    .make = places ? ambit__node_placed : ambit__node_like,
                    .extent = extent,
                    .most = MOST_NODES};
  ambit__rule *to;

  *out = NULL;
  if (strict && !places) return AMBIT_OK;
  to = ambit__rule_like(errors, rule);
  if (!to) return AMBIT_ENOMEM;
  ambit__graph_read(&g);
  if (!g.failed && !strict) ambit__graph_sums(&g);
  if (!g.failed && g.changed) ambit__graph_use(&g);
  if (!g.failed && g.changed && ambit__graph_write(&g, to))
    *out = to;
  else
    ambit__rule_free(to);
  ambit__graph_free(&g);
  return errors->status;
}
