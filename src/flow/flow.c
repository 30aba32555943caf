/* SPDX-License-Identifier: BSD-3-Clause */
/* flow.c - properties of a flow, and its reads. */
#include "flow/flow.h"

int ambit__flow_widest(const ambit__flow *f)
{
  int n = 1;

  for (int v = 0; v < f->nvalues; v++)
    if ((int)ambit_type_size(f->values[v].type) > n) n = (int)ambit_type_size(f->values[v].type);
  return n;
}

double ambit__flow_operations(const ambit__flow *f)
{
  double n = 0;

  for (int i = 0; i < f->nstages; i++)
    n += (double)f->stages[i].rule->flops + 1;
  return n;
}

bool ambit__flow_has_places(const ambit__flow *f)
{
  for (int i = 0; i < f->nstages; i++)
    if (f->stages[i].nplaces) return true;
  return false;
}

int ambit__flow_inset(const ambit__flow *f, int axis, int side)
{
  int n = 0;

  for (int i = 0; i < f->nstages; i++)
    if (!f->stages[i].nplaces && f->stages[i].inset[axis][side] > n)
      n = f->stages[i].inset[axis][side];
  return n;
}

ambit_boundary ambit__flow_kind(const ambit__flow *f, int value, int axis, int side)
{
  const ambit__boundaries *b = f->values[value].boundaries;

  return b && axis >= 0 && !f->periodic[axis] ? b->kind[axis][side] : AMBIT_NONE;
}

static bool has_argument(const ambit__flow *f, int stage, int value)
{
  const ambit__flow_stage *st = &f->stages[stage];

  for (int i = 0; i < st->rule->nparams; i++)
    for (int c = 0; st->port[i] >= 0 && c < st->rule->params[i].components; c++)
      if (f->in[st->port[i] + c] == value) return true;
  return false;
}

bool ambit__flow_is_new(const ambit__flow *f, int stage, int value)
{
  for (int i = 0; i < stage; i++)
    if (has_argument(f, i, value)) return false;
  return has_argument(f, stage, value);
}

void ambit__flow_each_result(const ambit__flow *f, int stage, ambit__flow_visit *visit, void *user)
{
  const ambit__flow_stage *st = &f->stages[stage];

  for (int i = 0; i < st->rule->nparams; i++)
    for (int c = 0; st->port[i] >= 0 && c < st->rule->params[i].components; c++)
      if (f->out[st->port[i] + c] >= 0) visit(user, stage, f->out[st->port[i] + c]);
}

void ambit__flow_each_read(const ambit__flow *f, int stage, bool keeps,
                           ambit__flow_visit_read *visit, void *user)
{
  const ambit__flow_stage *st = &f->stages[stage];
  const int here[AMBIT_MAX_DIMS] = {0};

  for (int i = 0; i < st->rule->nparams; i++) {
    const ambit__param *p = &st->rule->params[i];

    for (int k = 0; st->port[i] >= 0 && k < p->nreads; k++)
      visit(user, stage, f->in[st->port[i] + p->reads[k].component], p->reads[k].offset);
    for (int c = 0; st->port[i] >= 0 && c < p->components; c++) {
      const int out = f->out[st->port[i] + c];

      if (p->writes[c] && p->keeps[c]) visit(user, stage, f->in[st->port[i] + c], here);
      if ((keeps || st->nplaces) && out >= 0 && f->values[out].frozen >= 0)
        visit(user, stage, f->values[out].frozen, here);
    }
  }
}
