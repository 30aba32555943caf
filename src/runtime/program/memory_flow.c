/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_flow.c - the stages of several iterations, and the values of fields between them. */
#include "runtime/program/memory_flow.h"

static bool has_cells(const ambit_program *p, size_t step)
{
  const ambit__box *region = &p->applies[step].region;

  return p->steps[step].kind == STEP_APPLY && region->ndims && !ambit__box_is_empty(region);
}

/* ---- axes ---- */

int ambit__program_periodic(const ambit_program *p, int axis)
{
  int found = -2;

  for (size_t i = 0; i < p->nsteps; i++)
    for (int k = 0; p->steps[i].kind == STEP_APPLY && k < p->steps[i].n; k++) {
      const ambit__step *s = &p->steps[i];
      int is;

      if (!s->args[k].field || !s->kernel->rule->params[k].reads_neighbours) continue;
      is = s->args[k].field->boundaries.kind[axis][0] == AMBIT_PERIODIC;
      if (found != -2 && found != is) return -1;
      found = is;
    }
  return found == 1;
}

void ambit__program_turns(const ambit_program *p, int *class)
{
  for (int f = 0; f < p->nfields; f++)
    class[f] = f;
  for (size_t i = 0; i < p->nsteps; i++)
    for (int k = 1; p->steps[i].kind == STEP_ROTATE && k < p->steps[i].n; k++) {
      const int to = class[ambit__program_field(p, p->steps[i].args[0].field)];
      const int from = class[ambit__program_field(p, p->steps[i].args[k].field)];

      for (int f = 0; f < p->nfields; f++)
        if (class[f] == from) class[f] = to;
    }
}

const char *ambit__step_refuse_periodic(const ambit_program *p, size_t step, int axis)
{
  const ambit__box *region = &p->applies[step].region;

  if (p->steps[step].kind != STEP_APPLY || !ambit__grid_cuts(p->grid, axis)) return NULL;
  if (p->steps[step].kernel->rule->max_axis >= 0)
    return "a kernel uses index or extent, and the grid is cut along a periodic axis";
  if (region->lo[axis] > 0 || region->hi[axis] < p->grid->box.hi[axis])
    return "a step runs on a box, and the grid is cut along a periodic axis";
  return NULL;
}

/* ---- stages ---- */

/* A value that a stage computes, over the present one of its buffer. */
static int add_value(ambit__flow *f, int stage, int buffer, bool fills, int *now)
{
  ambit__flow_value *v = &f->values[f->nvalues];

  *v = f->values[now[buffer]];
  v->stage = stage;
  v->over = v->frozen = now[buffer];
  if (fills) v->filler = stage;
  return now[buffer] = f->nvalues++;
}

static int add_port(ambit__flow *f, int stage, int in)
{
  f->stages[stage].nports++;
  f->in[f->nports] = in;
  f->out[f->nports] = -1;
  return f->nports++;
}

/* The result of an argument. Arguments with the same field have one. */
static void add_result(const ambit_program *p, ambit__flow *f, int stage, int arg, int buffer,
                       int *now)
{
  const ambit__flow_stage *st = &f->stages[stage];
  const bool is_new = f->values[now[buffer]].stage != stage;
  const int v = is_new ? add_value(f, stage, buffer, false, now) : now[buffer];

  f->out[st->port[arg]] = v;
  if (ambit__step_overwrites(p, &p->steps[st->step], &p->applies[st->step].region, arg))
    f->values[v].frozen = -1;
}

void ambit__memory_flow_add(const ambit_program *p, const ambit__flow_stage *like,
                            const int *buffers, int *now, ambit__flow *f)
{
  const ambit__step *s = &p->steps[like->step];
  const int stage = f->nstages++;
  ambit__flow_stage *st = &f->stages[stage];

  *st = *like;
  st->ports = f->nports;
  st->nports = 0;
  if (st->fills) {
    const int port = add_port(f, stage, now[buffers[0]]);

    f->out[port] = add_value(f, stage, buffers[0], true, now);
    return;
  }
  for (int i = 0; s->kind == STEP_APPLY && i < s->n; i++)
    st->port[i] = s->args[i].field ? add_port(f, stage, now[buffers[i]]) : -1;
  for (int i = 0; st->rule && i < s->n; i++)
    if (s->args[i].field && st->rule->params[i].is_written)
      add_result(p, f, stage, i, buffers[i], now);
}

/* ---- the flow ---- */

size_t ambit__memory_flow_fills(const ambit_program *p, int depth)
{
  size_t n = 0;

  for (size_t i = 0; i < p->nsteps; i++)
    for (int k = 0; p->steps[i].kind == STEP_APPLY && k < p->steps[i].n; k++)
      n += p->steps[i].args[k].field && ambit__step_param(&p->steps[i], k)->reads_neighbours;
  return n * (size_t)depth;
}

ambit_status ambit__memory_flow_open(const ambit_program *p, int depth, size_t fills,
                                     ambit__flow *f)
{
  size_t args = 0;

  for (size_t i = 0; i < p->nsteps; i++)
    args += (size_t)p->steps[i].n;
  args *= (size_t)depth;
  AMBIT_TRY(ambit__flow_open(ambit__program_errors(p), p->nsteps * (size_t)depth + fills,
                             (size_t)p->nfields + args + fills, args + fills, f));
  f->memory = true;
  f->iterations = depth;
  for (int d = 0; d < p->grid->box.ndims; d++)
    f->cut[d] = ambit__grid_cuts(p->grid, d);
  for (int i = 0; i < p->nfields; i++)
    f->values[f->nvalues++] = (ambit__flow_value){.type = p->fields[i]->type,
                                                  .stage = -1,
                                                  .target = -1,
                                                  .frozen = -1,
                                                  .over = -1,
                                                  .filler = -1,
                                                  .field = i};
  return AMBIT_OK;
}

/* Whether a step is part of several iterations at once. */
static bool takes_part(const ambit_program *p, size_t step)
{
  const ambit__role role = p->applies[step].role;

  return role == ROLE_STAGE || role == ROLE_AHEAD || role == ROLE_FIRST;
}

/* Adds a step of an iteration; `buffers` has the buffer of each field. */
static void add_step(const ambit_program *p, int iteration, size_t step, int *buffers, int *now,
                     ambit__flow *f)
{
  const ambit__step *s = &p->steps[step];
  const bool passes = has_cells(p, step) && p->applies[step].role == ROLE_STAGE;
  const ambit__flow_stage like = {
      .rule = passes ? s->kernel->rule : NULL, .iteration = iteration, .step = step};
  int of[AMBIT_MAX_PARAMS] = {0};

  for (int i = 0; s->kind == STEP_APPLY && i < s->n; i++)
    if (s->args[i].field) of[i] = buffers[ambit__program_field(p, s->args[i].field)];
  ambit__memory_flow_add(p, &like, of, now, f);
  if (s->kind == STEP_ROTATE) ambit__step_rotate(p, s, buffers);
}

ambit_status ambit__memory_flow_make(const ambit_program *p, int depth, ambit__flow *f)
{
  ambit__errors *errors = ambit__program_errors(p);
  const size_t n = (size_t)p->nfields;
  int *now;

  AMBIT_TRY(ambit__memory_flow_open(p, depth, 0, f));
  AMBIT_TAKE(errors, &f->room, now, n);
  AMBIT_TAKE(errors, &f->room, f->after, n);
  for (int i = 0; i < p->nfields; i++)
    now[i] = f->after[i] = i;
  for (int i = 0; i < depth; i++)
    for (size_t k = 0; k < p->nsteps; k++)
      if (takes_part(p, k)) add_step(p, i, k, f->after, now, f);
  AMBIT_TAKE(errors, &f->room, f->beside, (size_t)f->nvalues);
  ambit__flow_layers(f);
  return AMBIT_OK;
}
