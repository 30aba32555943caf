/* SPDX-License-Identifier: BSD-3-Clause */
/* lags.c - what follows from the reads of a flow: how far values are read, the cells beside a tile
 * that are computed again, and how far a stage is behind those before it. */
#include "flow/flow.h"

#include "base/integers.h"

static void widen(ambit__flow_cells *a, const ambit__flow_cells *b)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    for (int side = 0; side < 2; side++)
      a->n[d][side] = ambit__max(a->n[d][side], b->n[d][side]);
}

/* The cells that a read of other cells needs. */
static ambit__flow_cells shifted(ambit__flow_cells cells, const int *offset)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    cells.n[d][offset[d] > 0] += offset[d] < 0 ? -offset[d] : offset[d];
  return cells;
}

/* ---- reach ---- */

static void note_reach(void *user, int stage, int value, const int *offset)
{
  ambit__flow_cells *values = user;
  const ambit__flow_cells reach = shifted((ambit__flow_cells){0}, offset);

  (void)stage;
  widen(&values[value], &reach);
}

void ambit__flow_reach(const ambit__flow *f, bool keeps, ambit__flow_cells *values)
{
  for (int v = 0; v < f->nvalues; v++)
    values[v] = (ambit__flow_cells){0};
  for (int i = 0; i < f->nstages; i++)
    ambit__flow_each_read(f, i, keeps, note_reach, values);
}

/* ---- cells beside a tile ---- */

typedef struct needs {
  const ambit__flow *f;
  bool mirrors;
  ambit__flow_cells stage, *values; /* `stage`: of the one that is visited */
} needs;

/* Cells outside a face that repeats cells inside: those must be right as well. */
static void add_mirrored(const needs *w, int value)
{
  const ambit__flow_cells old = w->values[value];

  for (int d = 0; w->mirrors && d < AMBIT_MAX_DIMS; d++)
    for (int side = 0; side < 2; side++) {
      int *cells = &w->values[value].n[d][!side];

      *cells = ambit__max(
          *cells, ambit__flow_mirror(ambit__flow_kind(w->f, value, d, side), old.n[d][side]) - 1);
    }
}

static void take(void *user, int stage, int value)
{
  needs *w = user;

  (void)stage;
  add_mirrored(w, value);
  widen(&w->stage, &w->values[value]);
  if (w->f->memory && w->f->values[value].frozen >= 0) /* which stays there */
    widen(&w->values[w->f->values[value].frozen], &w->values[value]);
}

static void give(void *user, int stage, int value, const int *offset)
{
  needs *w = user;
  const ambit__flow_cells cells = shifted(w->stage, offset);

  (void)stage;
  widen(&w->values[value], &cells);
}

void ambit__flow_beside(const ambit__flow *f, bool keeps, bool mirrors, ambit__flow_cells *values)
{
  needs w = {.f = f, .mirrors = mirrors, .values = values};

  for (int v = 0; v < f->nvalues; v++)
    values[v] = (ambit__flow_cells){0};
  for (int i = f->nstages - 1; i >= 0; i--) { /* from the results to the loaded values */
    w.stage = (ambit__flow_cells){0};
    ambit__flow_each_result(f, i, take, &w);
    ambit__flow_each_read(f, i, keeps, give, &w);
  }
  for (int v = 0; v < f->nvalues; v++)
    if (f->values[v].stage < 0) add_mirrored(&w, v);
}

static void take_layers(void *user, int stage, int value)
{
  ambit__flow *f = user;

  widen(&f->stages[stage].beyond, &f->beside[value]);
}

void ambit__flow_layers(ambit__flow *f)
{
  ambit__flow_beside(f, false, false, f->beside);
  for (int v = 0; v < f->nvalues; v++)
    for (int d = 0; d < AMBIT_MAX_DIMS; d++)
      if (!f->cut[d]) f->beside[v].n[d][0] = f->beside[v].n[d][1] = 0;
  for (int i = 0; i < f->nstages; i++)
    ambit__flow_each_result(f, i, take_layers, f);
}

const ambit__flow_cells *ambit__flow_valid(const ambit__flow *f, int value)
{
  const int stage = f->values[value].stage;

  return stage < 0 ? &f->beside[value] : &f->stages[stage].beyond;
}

/* ---- lags ---- */

typedef struct delays {
  const ambit__flow *f;
  const ambit__flow_pass *pass;
  int *stages, *values, *until;
} delays;

static void delay(void *user, int stage, int value, const int *offset)
{
  const delays *w = user;

  if (w->f->values[value].stage < 0 && !w->pass->arrives) return;
  w->stages[stage] = ambit__max(
      w->stages[stage], w->values[value] + w->pass->ahead(w->pass->user, stage, value, offset));
}

static void wait_for_readers(void *user, int stage, int value)
{
  const delays *w = user;

  w->stages[stage] = ambit__max(w->stages[stage], w->until[w->f->values[value].over]);
}

static void note_reader(void *user, int stage, int value, const int *offset)
{
  const delays *w = user;

  w->until[value] = ambit__max(
      w->until[value], w->stages[stage] + w->pass->behind(w->pass->user, stage, value, offset));
}

/* In memory, reads of the value before are reads of the same rows, also those of the stage itself.
 */
static void set_lag(void *user, int stage, int value)
{
  const delays *w = user;

  w->values[value] = w->stages[stage];
  if (w->f->memory)
    w->until[value] = ambit__max(w->stages[stage], w->until[w->f->values[value].over]);
}

static void postpone(void *user, int stage, int value, const int *offset)
{
  const delays *w = user;
  const int latest = w->stages[stage] - w->pass->ahead(w->pass->user, stage, value, offset);

  if (w->f->values[value].stage >= 0) return;
  if (w->values[value] < 0 || w->values[value] > latest) w->values[value] = latest;
}

static void delay_stage(delays *w, int stage)
{
  const int unit = w->pass->unit ? w->pass->unit : 1;
  int *lag = &w->stages[stage];

  *lag = 0;
  ambit__flow_each_read(w->f, stage, w->pass->keeps, delay, w);
  if (w->f->memory) ambit__flow_each_result(w->f, stage, wait_for_readers, w);
  *lag = (*lag + unit - 1) / unit * unit;
  if (w->f->memory) ambit__flow_each_read(w->f, stage, w->pass->keeps, note_reader, w);
  ambit__flow_each_result(w->f, stage, set_lag, w);
}

/* Loaded values arrive as late as they can. */
static void postpone_loads(delays *w)
{
  const ambit__flow *f = w->f;

  for (int v = 0; v < f->nvalues; v++)
    if (f->values[v].stage < 0) w->values[v] = -1;
  for (int i = 0; i < f->nstages; i++)
    ambit__flow_each_read(f, i, w->pass->keeps, postpone, w);
  for (int v = 0; v < f->nvalues; v++)
    if (w->values[v] < 0) w->values[v] = 0;
}

void ambit__flow_lags(const ambit__flow *f, const ambit__flow_pass *pass, int *stages, int *values,
                      int *until)
{
  delays w = {f, pass, stages, values, until};

  for (int v = 0; v < f->nvalues; v++) {
    values[v] = 0;
    if (f->memory) until[v] = pass->held && f->values[v].stage < 0 ? pass->held[v] : 0;
  }
  for (int i = 0; i < f->nstages; i++)
    delay_stage(&w, i);
  if (!f->memory) postpone_loads(&w);
}
