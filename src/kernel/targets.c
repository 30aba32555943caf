/* SPDX-License-Identifier: BSD-3-Clause */
/* targets.c - the cells where the components of a field are stored. */
#include "grid/box.h"
#include "kernel/ast.h"

#include <string.h>

const int *ambit__param_target(const ambit__param *p, int component)
{
  static const int here[AMBIT_MAX_DIMS] = {0};

  return p->targets ? p->targets[component] : here;
}

bool ambit__param_spreads(const ambit__param *p, int component)
{
  return !ambit__offset_is_zero(ambit__param_target(p, component));
}

bool ambit__rule_spreads(const ambit__rule *rule)
{
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].targets) return true;
  return false;
}

const char *ambit__cell_name(ambit__unit *u, int param, int component, const int *offset)
{
  const ambit__param *p = &u->rule->params[param];
  ambit__text t = {0};
  char *name;

  ambit__print(&t, "%s", p->label);
  if (p->is_vector) ambit__print(&t, "[%d]", component);
  for (int d = 0; d < u->rule->ndims; d++)
    ambit__print(&t, "[%d]", offset[d]);
  name = ambit__unit_new(u, t.len + 1, 1);
  if (t.len) memcpy(name, t.chars, t.len);
  ambit__text_free(&t);
  return name;
}
