/* SPDX-License-Identifier: BSD-3-Clause */
/* flow.c - properties of a flow, and its reads. */
#include "flow/flow.h"

ambit_status ambit__flow_open(ambit__errors *errors, size_t stages, size_t values, size_t ports,
                              ambit__flow *f)
{
  *f = (ambit__flow){.nstages = 0};
  AMBIT_TAKE(errors, &f->room, f->stages, stages);
  AMBIT_TAKE(errors, &f->room, f->values, values);
  AMBIT_TAKE(errors, &f->room, f->in, ports);
  AMBIT_TAKE(errors, &f->room, f->out, ports);
  AMBIT_TAKE(errors, &f->room, f->next, values);
  return AMBIT_OK;
}

void ambit__flow_free(ambit__flow *f)
{
  ambit__arena_free(&f->room);
  *f = (ambit__flow){0};
}

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

bool ambit__flow_has_points(const ambit__flow *f)
{
  for (int i = 0; i < f->nstages; i++)
    if (f->stages[i].points) return true;
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

  for (int i = 0; i < st->nports; i++)
    if (f->in[st->ports + i] == value) return true;
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

  for (int i = 0; i < st->nports; i++)
    if (f->out[st->ports + i] >= 0) visit(user, stage, f->out[st->ports + i]);
}

/* The two ends of the reads of each argument, or of those that fill ghost cells. */
static void each_read_in_memory(const ambit__flow *f, int stage, ambit__flow_visit_read *visit,
                                void *user)
{
  const ambit__flow_stage *st = &f->stages[stage];
  int low[AMBIT_MAX_DIMS];

  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    low[d] = -st->before[d];
  if (st->fills) visit(user, stage, f->in[st->ports], low);
  for (int i = 0; st->rule && i < st->rule->nparams; i++) {
    const ambit__param *p = &st->rule->params[i];

    if (st->port[i] < 0 || !p->nreads) continue;
    for (int d = 0; d < AMBIT_MAX_DIMS; d++)
      low[d] = -p->low[d];
    visit(user, stage, f->in[st->port[i]], low);
    visit(user, stage, f->in[st->port[i]], p->high);
  }
}

void ambit__flow_each_read(const ambit__flow *f, int stage, bool keeps,
                           ambit__flow_visit_read *visit, void *user)
{
  const ambit__flow_stage *st = &f->stages[stage];
  const int here[AMBIT_MAX_DIMS] = {0};

  if (f->memory) {
    each_read_in_memory(f, stage, visit, user);
    return;
  }
  for (int i = 0; i < st->rule->nparams; i++) {
    const ambit__param *p = &st->rule->params[i];

    for (int k = 0; st->port[i] >= 0 && k < p->nreads; k++)
      visit(user, stage, f->in[st->port[i] + p->reads[k].component],
            st->samples ? here : p->reads[k].offset);
    for (int c = 0; st->port[i] >= 0 && c < p->components; c++) {
      const int out = f->out[st->port[i] + c];

      if (p->writes[c] && p->keeps[c]) visit(user, stage, f->in[st->port[i] + c], here);
      if ((keeps || st->nplaces) && out >= 0 && f->values[out].frozen >= 0)
        visit(user, stage, f->values[out].frozen, here);
    }
  }
}
