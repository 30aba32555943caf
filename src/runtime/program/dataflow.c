/* SPDX-License-Identifier: BSD-3-Clause */
/* dataflow.c - the stages of several iterations, their buffers and their layers. */
#include "runtime/program/dataflow.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Rows of the tables, one per stage and one for the end. */
static int *buffers_at(const ambit__dataflow *flow, int stage)
{
  return flow->buffers + stage * flow->nfields;
}

static bool *overwritten_at(const ambit__dataflow *flow, int stage)
{
  return flow->overwritten + stage * flow->nfields;
}

static ambit__layers *valid_at(const ambit__dataflow *flow, int stage)
{
  return flow->valid + stage * flow->nfields;
}

static void take_most(ambit__layers *a, const ambit__layers *b)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++) {
    if (b->lo[d] > a->lo[d]) a->lo[d] = b->lo[d];
    if (b->hi[d] > a->hi[d]) a->hi[d] = b->hi[d];
  }
}

static bool has_cells(const ambit_program *p, size_t step)
{
  const ambit__box *region = &p->applies[step].region;

  return p->steps[step].kind == STEP_APPLY && region->ndims && !ambit__box_is_empty(region);
}

static bool writes_all(const ambit_program *p, size_t step, int arg)
{
  return ambit__step_overwrites(p, &p->steps[step], &p->applies[step].region, arg);
}

/* ---- forward pass: buffers ---- */

static void rotate(const ambit_program *p, const ambit__step *s, int *buffers)
{
  const int first = buffers[ambit__program_field(p, s->args[0].field)];

  for (int i = 0; i < s->n - 1; i++)
    buffers[ambit__program_field(p, s->args[i].field)] =
        buffers[ambit__program_field(p, s->args[i + 1].field)];
  buffers[ambit__program_field(p, s->args[s->n - 1].field)] = first;
}

static void follow(const ambit_program *p, ambit__dataflow *flow, int stage)
{
  const size_t step = flow->stages[stage].step, n = (size_t)flow->nfields;
  const ambit__step *s = &p->steps[step];
  int *buffers = buffers_at(flow, stage + 1);
  bool *overwritten = overwritten_at(flow, stage + 1);

  memcpy(buffers, buffers_at(flow, stage), n * sizeof *buffers);
  memcpy(overwritten, overwritten_at(flow, stage), n * sizeof *overwritten);
  if (s->kind == STEP_ROTATE) rotate(p, s, buffers);
  for (int i = 0; has_cells(p, step) && i < s->n; i++)
    if (s->args[i].field && s->kernel->rule->params[i].is_written && writes_all(p, step, i))
      overwritten[buffers[ambit__program_field(p, s->args[i].field)]] = true;
}

/* ---- backward pass: layers ---- */

/* The layers that a parameter reads when its step computes `beyond`, along axes that are cut. */
static ambit__layers reads_of(const ambit_program *p, const ambit__step *s, int arg,
                              const ambit__layers *beyond)
{
  const ambit__param *q = &s->kernel->rule->params[arg];
  const int n = p->grid->box.ndims - ambit__field_wraps_rows(p, s->args[arg].field);
  ambit__layers l = *beyond;

  for (int d = 0; q->nreads && d < n; d++) {
    if (!ambit__grid_cuts(p->grid, d)) continue;
    l.lo[d] += q->low[d];
    l.hi[d] += q->high[d];
  }
  return l;
}

/* Moves `needed`, the layers by buffer, from after a stage to before it. Sets the layers of the
 * stage. */
static void go_back(const ambit_program *p, ambit__dataflow *flow, int stage, ambit__layers *needed)
{
  ambit__stage *st = &flow->stages[stage];
  const ambit__step *s = &p->steps[st->step];
  const int *buffers = buffers_at(flow, stage);

  if (!has_cells(p, st->step)) return;
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field && s->kernel->rule->params[i].is_written)
      take_most(&st->beyond, &needed[buffers[ambit__program_field(p, s->args[i].field)]]);
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field && s->kernel->rule->params[i].is_written && writes_all(p, st->step, i))
      needed[buffers[ambit__program_field(p, s->args[i].field)]] = (ambit__layers){{0}, {0}};
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field && s->kernel->rule->params[i].nreads) {
      const ambit__layers l = reads_of(p, s, i, &st->beyond);

      take_most(&needed[buffers[ambit__program_field(p, s->args[i].field)]], &l);
    }
}

/* ---- second forward pass: valid layers ---- */

static void note_valid(const ambit_program *p, ambit__dataflow *flow, int stage)
{
  const ambit__stage *st = &flow->stages[stage];
  const ambit__step *s = &p->steps[st->step];
  ambit__layers *valid = valid_at(flow, stage + 1);

  memcpy(valid, valid_at(flow, stage), (size_t)flow->nfields * sizeof *valid);
  for (int i = 0; has_cells(p, st->step) && i < s->n; i++)
    if (s->args[i].field && s->kernel->rule->params[i].is_written)
      valid[buffers_at(flow, stage)[ambit__program_field(p, s->args[i].field)]] = st->beyond;
}

/* ---- dataflow ---- */

static ambit_status allocate(const ambit_program *p, ambit__dataflow *flow)
{
  ambit__errors *errors = ambit__program_errors(p);
  const size_t cells = (size_t)(flow->nstages + 1) * (size_t)flow->nfields;

  flow->stages = ambit__new(errors, (size_t)flow->nstages, sizeof *flow->stages);
  flow->buffers = ambit__new(errors, cells, sizeof *flow->buffers);
  flow->overwritten = ambit__new(errors, cells, sizeof *flow->overwritten);
  flow->valid = ambit__new(errors, cells, sizeof *flow->valid);
  return flow->stages && flow->buffers && flow->overwritten && flow->valid ? AMBIT_OK
                                                                           : AMBIT_ENOMEM;
}

ambit_status ambit__dataflow_make(const ambit_program *p, int depth, ambit__dataflow *flow)
{
  *flow = (ambit__dataflow){.depth = depth, .nfields = p->nfields};
  flow->nstages = depth * (int)p->nsteps;
  AMBIT_TRY(allocate(p, flow));
  for (int i = 0; i < p->nfields; i++)
    flow->buffers[i] = i;
  for (int i = 0; i < flow->nstages; i++) {
    flow->stages[i].iteration = i / (int)p->nsteps;
    flow->stages[i].step = (size_t)i % p->nsteps;
    follow(p, flow, i);
  }
  for (int i = flow->nstages - 1; i >= 0; i--)
    go_back(p, flow, i, flow->valid); /* the layers needed at the start are received */
  for (int i = 0; i < flow->nstages; i++)
    note_valid(p, flow, i);
  return AMBIT_OK;
}

void ambit__dataflow_free(ambit__dataflow *flow)
{
  free(flow->stages);
  free(flow->buffers);
  free(flow->overwritten);
  free(flow->valid);
  *flow = (ambit__dataflow){0};
}

int ambit__dataflow_buffer(const ambit_program *p, const ambit__dataflow *flow, int stage,
                           const ambit_field *f)
{
  return buffers_at(flow, stage)[ambit__program_field(p, f)];
}

const ambit__layers *ambit__dataflow_valid(const ambit__dataflow *flow, int stage, int buffer)
{
  return &valid_at(flow, stage)[buffer];
}
