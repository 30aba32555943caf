/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c - the order in which a rule reads one parameter and assigns another. */
#include "kernel/kernel.h"

static bool reads(const ambit__expr *e, int param, int component)
{
  if (!e) return false;
  if (e->op == EXPR_READ && e->index == param && e->component == component) return true;
  return reads(e->a, param, component) || reads(e->b, param, component) ||
         reads(e->c, param, component);
}

/* Goes through statements in their order; *set: the component may have been assigned. */
static bool look(const ambit__stmt *s, int read, int written, int component, bool *set)
{
  bool late = false;

  for (; s; s = s->next) {
    late |= *set && reads(s->value, read, component);
    late |= look(s->body, read, written, component, set);
    late |= look(s->other, read, written, component, set);
    *set |= s->kind == STMT_SET_OUT && s->index == written && s->component == component;
  }
  return late;
}

bool ambit__rule_reads_late(const ambit__rule *rule, int read, int written)
{
  for (int c = 0; c < rule->params[written].components; c++) {
    bool set = false;

    if (look(rule->body, read, written, c, &set)) return true;
  }
  return false;
}
