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

bool ambit__flow_next_result(const ambit__flow *f, int stage, int *at, int *value)
{
  const ambit__flow_stage *st = &f->stages[stage];

  while (*at < st->nports) {
    *value = f->out[st->ports + (*at)++];
    if (*value >= 0) return true;
  }
  return false;
}

/* ---- reads ---- */

static bool read_at(ambit__flow_read *r, int value, const int *offset, int sign)
{
  r->value = value;
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    r->offset[d] = offset ? sign * offset[d] : 0;
  return value >= 0;
}

/* Read k of a parameter, whose component 0 has this port: of its reads, and then two of each
 * component. */
static bool find_read(const ambit__flow *f, const ambit__flow_stage *st, const ambit__param *p,
                      int port, int k, bool keeps, ambit__flow_read *r)
{
  const int c = (k - p->nreads) / 2, out = k < p->nreads ? -1 : f->out[port + c];

  if (k < p->nreads)
    return read_at(r, f->in[port + p->reads[k].component], st->samples ? NULL : p->reads[k].offset,
                   1);
  if ((k - p->nreads) % 2 == 0)
    return p->writes[c] && p->keeps[c] && read_at(r, f->in[port + c], NULL, 1);
  return (keeps || st->nplaces) && out >= 0 && read_at(r, f->values[out].frozen, NULL, 1);
}

bool ambit__flow_next_read(const ambit__flow *f, int stage, bool keeps, ambit__flow_read *r)
{
  const ambit__flow_stage *st = &f->stages[stage];

  if (st->fills) return !r->next++ && read_at(r, f->in[st->ports], st->before, -1);
  for (; st->rule && r->param < st->rule->nparams; r->param++, r->next = 0) {
    const ambit__param *p = &st->rule->params[r->param];
    const int port = st->port[r->param];
    const int n = f->memory ? 2 * (p->nreads > 0) : p->nreads + 2 * p->components;

    while (port >= 0 && r->next < n) {
      const int k = r->next++;

      if (f->memory) return read_at(r, f->in[port], k ? p->high : p->low, k ? 1 : -1);
      if (find_read(f, st, p, port, k, keeps, r)) return true;
    }
  }
  return false;
}
