/* SPDX-License-Identifier: BSD-3-Clause */
/* normal.c - rules in normal form: passes over the graph of a rule (docs/design/0024-rule.md). */
#include "kernel/graph.h"

#include <math.h>

enum { MOST_NODES = 4000 * 1000 };

/* 1, 2, 4, ... */
static bool is_power_of_2(const ambit__graph_node *n)
{
  int exponent;

  return ambit__node_is_number(n) && n->e.value.real >= 1 &&
         frexp(n->e.value.real, &exponent) == 0.5;
}

/* Out of strict mode (2 * u) * u[1] is 2 * (u * u[1]), the same number unless the product
 * underflows: so two cells, of two rows that are computed together, have one mean, say
 * 2 * a * b / (a + b). */
ambit__graph_node *ambit__node_normal(ambit__graph *g, const ambit__expr *like,
                                      ambit__graph_node *a, ambit__graph_node *b,
                                      ambit__graph_node *c)
{
  const bool doubles = like->op == EXPR_MUL && ambit__type_is_real(like->type) &&
                       a->e.op == EXPR_MUL && b->e.op == EXPR_READ;

  if (doubles && ambit__node_b(a)->e.op == EXPR_READ && is_power_of_2(ambit__node_a(a))) {
    g->changed = true;
    return ambit__node_like(g, like, ambit__node_a(a),
                            ambit__node_like(g, like, ambit__node_b(a), b, NULL), NULL);
  }
  return (g->rule->max_axis >= 0 ? ambit__node_placed : ambit__node_like)(g, like, a, b, c);
}

ambit_status ambit__rule_normal(ambit__errors *errors, const ambit__rule *rule, int64_t extent,
                                bool strict, ambit__rule **out)
{
  const bool places = rule->max_axis >= 0;
  ambit__graph g = {.errors = errors,
                    .rule = rule,
                    .make = strict ? ambit__node_placed : ambit__node_normal,
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
