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

/* Adds the cells that a read needs, in other cells. */
static void widen_by(ambit__flow_cells *to, ambit__flow_cells cells, const ambit__flow_read *r)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    cells.n[d][r->offset[d] > 0] += r->offset[d] < 0 ? -r->offset[d] : r->offset[d];
  widen(to, &cells);
}

void ambit__flow_reach(const ambit__flow *f, bool keeps, ambit__flow_cells *values)
{
  for (int v = 0; v < f->nvalues; v++)
    values[v] = (ambit__flow_cells){0};
  for (int i = 0; i < f->nstages; i++)
    for (ambit__flow_read r = {0}; ambit__flow_next_read(f, i, keeps, &r);)
      widen_by(&values[r.value], (ambit__flow_cells){0}, &r);
}

/* ---- cells beside a tile ---- */

/* Cells outside a face that repeats cells inside: those must be right as well. */
static void add_mirrored(const ambit__flow *f, int value, ambit__flow_cells *cells)
{
  const ambit__flow_cells old = *cells;

  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    for (int side = 0; side < 2; side++) {
      const int n = ambit__flow_mirror(ambit__flow_kind(f, value, d, side), old.n[d][side]) - 1;

      cells->n[d][!side] = ambit__max(cells->n[d][!side], n);
    }
}

void ambit__flow_beside(const ambit__flow *f, bool keeps, bool mirrors, ambit__flow_cells *values)
{
  for (int v = 0; v < f->nvalues; v++)
    values[v] = (ambit__flow_cells){0};
  for (int i = f->nstages - 1; i >= 0; i--) { /* from the results to the loaded values */
    ambit__flow_cells stage = {0};

    for (int at = 0, v; ambit__flow_next_result(f, i, &at, &v);) {
      if (mirrors) add_mirrored(f, v, &values[v]);
      widen(&stage, &values[v]);
      if (f->memory && f->values[v].frozen >= 0) /* which stays there */
        widen(&values[f->values[v].frozen], &values[v]);
    }
    for (ambit__flow_read r = {0}; ambit__flow_next_read(f, i, keeps, &r);)
      widen_by(&values[r.value], stage, &r);
  }
  for (int v = 0; mirrors && v < f->nvalues; v++)
    if (f->values[v].stage < 0) add_mirrored(f, v, &values[v]);
}

void ambit__flow_layers(ambit__flow *f)
{
  ambit__flow_beside(f, false, false, f->beside);
  for (int v = 0; v < f->nvalues; v++)
    for (int d = 0; d < AMBIT_MAX_DIMS; d++)
      if (!f->cut[d]) f->beside[v].n[d][0] = f->beside[v].n[d][1] = 0;
  for (int i = 0; i < f->nstages; i++)
    for (int at = 0, v; ambit__flow_next_result(f, i, &at, &v);)
      widen(&f->stages[i].beyond, &f->beside[v]);
}

const ambit__flow_cells *ambit__flow_valid(const ambit__flow *f, int value)
{
  const int stage = f->values[value].stage;

  return stage < 0 ? &f->beside[value] : &f->stages[stage].beyond;
}

/* ---- lags ---- */

/* In memory, reads of the value before are reads of the same rows, also those of the stage itself.
 */
static int find_lag(const ambit__flow *f, const ambit__flow_pass *pass, int stage,
                    const int *values, const int *until)
{
  const int unit = pass->unit ? pass->unit : 1;
  int lag = 0;

  for (ambit__flow_read r = {0}; ambit__flow_next_read(f, stage, pass->keeps, &r);)
    if (f->values[r.value].stage >= 0 || pass->arrives)
      lag = ambit__max(lag, values[r.value] + pass->ahead(pass->user, stage, &r));
  for (int at = 0, v; f->memory && ambit__flow_next_result(f, stage, &at, &v);)
    lag = ambit__max(lag, until[f->values[v].over]);
  return (lag + unit - 1) / unit * unit;
}

static void set_lag(const ambit__flow *f, const ambit__flow_pass *pass, int stage, int lag,
                    int *values, int *until)
{
  for (ambit__flow_read r = {0}; f->memory && ambit__flow_next_read(f, stage, pass->keeps, &r);)
    until[r.value] = ambit__max(until[r.value], lag + pass->behind(pass->user, stage, &r));
  for (int at = 0, v; ambit__flow_next_result(f, stage, &at, &v);) {
    values[v] = lag;
    if (f->memory) until[v] = ambit__max(lag, until[f->values[v].over]);
  }
}

/* Loaded values arrive as late as they can. */
static void postpone_loads(const ambit__flow *f, const ambit__flow_pass *pass, const int *stages,
                           int *values)
{
  for (int v = 0; v < f->nvalues; v++)
    if (f->values[v].stage < 0) values[v] = -1;
  for (int i = 0; i < f->nstages; i++)
    for (ambit__flow_read r = {0}; ambit__flow_next_read(f, i, pass->keeps, &r);) {
      const int latest = stages[i] - pass->ahead(pass->user, i, &r);
      int *lag = &values[r.value];

      if (f->values[r.value].stage < 0 && (*lag < 0 || *lag > latest)) *lag = latest;
    }
  for (int v = 0; v < f->nvalues; v++)
    values[v] = ambit__max(values[v], 0);
}

void ambit__flow_lags(const ambit__flow *f, const ambit__flow_pass *pass, int *stages, int *values,
                      int *until)
{
  for (int v = 0; v < f->nvalues; v++) {
    values[v] = 0;
    if (f->memory) until[v] = pass->held && f->values[v].stage < 0 ? pass->held[v] : 0;
  }
  for (int i = 0; i < f->nstages; i++) {
    stages[i] = find_lag(f, pass, i, values, until);
    set_lag(f, pass, i, stages[i], values, until);
  }
  if (!f->memory) postpone_loads(f, pass, stages, values);
}
