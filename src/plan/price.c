/* SPDX-License-Identifier: BSD-3-Clause */
/* price.c - the least memory traffic and work of one update of one cell. */
#include "plan/plan.h"

static bool is_read(const ambit__param *p, int c)
{
  for (int i = 0; i < p->nreads; i++)
    if (p->reads[i].component == c) return true;
  return false;
}

ambit__price ambit__price_of(const ambit__rule *rule)
{
  ambit__price price = {.flops = (double)rule->flops};

  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *p = &rule->params[i];

    for (int c = 0; p->kind == PARAM_FIELD && c < p->components; c++) {
      price.bytes += (double)(is_read(p, c) + p->writes[c]) * (double)ambit_type_size(p->type);
      price.written += (double)p->writes[c] * (double)ambit_type_size(p->type);
    }
  }
  return price;
}
