/* SPDX-License-Identifier: BSD-3-Clause */
/* once.c - a rule on scalars alone: its values are variables, its results go to where they came
 * from. */
#include "nest/nest.h"

/* In C: variables named like the parameters of a kernel, and like what kernels read from them. */
static void let_call(ambit__nest *n)
{
  for (int i = 0; i < n->rule->nparams; i++) {
    const char *name = ambit__nest_name(n, i), *type = ambit__nest_type(n, i);

    ambit__nest_do(n, "%s *%s_mem = call->origin[%d]", type, name, i);
    ambit__nest_do(n, "const %s %s_v = *%s_mem", type, name, name);
  }
  ambit__nest_do(n, "const %s step = call->step", n->integer);
}

void ambit__nest_once(ambit__nest *n)
{
  if (!n->dialect->kernel) let_call(n);
  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    if (p->is_written && p->keeps[0])
      ambit__nest_do(n, "%s %s_out = %s_v", ambit__nest_type(n, i), p->name, p->name);
    else if (p->is_written)
      ambit__nest_do(n, "%s %s_out", ambit__nest_type(n, i), p->name);
  }
  ambit__nest_node(n, NODE_RULE, .inside = -1);
  for (int i = 0; i < n->rule->nparams; i++) {
    const char *name = ambit__nest_name(n, i);

    if (ambit__nest_param(n, i)->is_written) ambit__nest_do(n, "*%s_mem = %s_out", name, name);
  }
}
