/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_job.c - the lags of stages, the rows of values that are kept, and the cells that are
 * computed again at the sides of a tile. */
#include "plan/fused.h"

#include <stdlib.h>

enum {
  MOST_TAPS = 256,
  MOST_PERIOD = 16,
  REGISTERS = 34,      /* addresses, tests, counters */
  EDGE_REGISTERS = 56, /* the same at faces */
  DOUBLE_CONSTANTS = 16
};

static int most(int a, int b)
{
  return a > b ? a : b;
}

/* ---- reads ---- */

typedef void (*visit)(ambit__fused_job *j, int stage, int value, const int *offset);

/* Calls f for every read of a stage: of its parameters, and of its own cell where an old value
 * stays if the rule does not write it. */
static void each_read(ambit__fused_job *j, int stage, visit f)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];
  const int here[AMBIT_MAX_DIMS] = {0};

  for (int i = 0; i < st->rule->nparams; i++) {
    const ambit__param *p = &st->rule->params[i];

    for (int k = 0; st->port[i] >= 0 && k < p->nreads; k++)
      f(j, stage, j->pipe->in[st->port[i] + p->reads[k].component], p->reads[k].offset);
    for (int c = 0; st->port[i] >= 0 && c < p->components; c++) {
      const int out = j->pipe->out[st->port[i] + c];

      if (p->writes[c] && p->keeps[c]) f(j, stage, j->pipe->in[st->port[i] + c], here);
      if (j->edge && out >= 0 && j->pipe->values[out].frozen >= 0)
        f(j, stage, j->pipe->values[out].frozen, here);
    }
  }
}

/* Calls f for every value that a stage computes. */
static void each_result(ambit__fused_job *j, int stage,
                        void (*f)(ambit__fused_job *j, int stage, int value))
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];

  for (int i = 0; i < st->rule->nparams; i++)
    for (int c = 0; st->port[i] >= 0 && c < st->rule->params[i].components; c++)
      if (j->pipe->out[st->port[i] + c] >= 0) f(j, stage, j->pipe->out[st->port[i] + c]);
}

static void note_reach(ambit__fused_job *j, int stage, int value, const int *offset)
{
  ambit__fused_value *v = &j->values[value];

  (void)stage;
  v->low = most(v->low, -offset[j->z]);
  v->high = most(v->high, offset[j->z]);
  v->left = most(v->left, -offset[j->x]);
  v->right = most(v->right, offset[j->x]);
}

/* ---- mirrored rows at faces ---- */

static ambit_boundary kind_of(const ambit__fused_job *j, int value, int side)
{
  const ambit__boundaries *b = j->pipe->values[value].boundaries;

  return b && j->edge && !j->pipe->periodic[j->z] ? b->kind[j->z][side] : AMBIT_NONE;
}

/* The row that the n-th row outside a face is a copy of, counted from the face; 0: none. */
static int mirror(ambit_boundary kind, int n)
{
  switch (kind) {
  case AMBIT_REFLECT: return n + 1;
  case AMBIT_SYMMETRIC: return n;
  case AMBIT_CLAMP: return 1;
  default: return 0;
  }
}

/* Rows after the first of the grid that its copies outside need. */
static int needs_inside(const ambit__fused_job *j, int value)
{
  const int low = j->values[value].low;

  return low ? most(mirror(kind_of(j, value, 0), low) - 1, 0) : 0;
}

/* ---- lags ---- */

static void delay(ambit__fused_job *j, int stage, int value, const int *offset)
{
  const ambit__fused_value *v = &j->values[value];
  const int ahead = most(offset[j->z], needs_inside(j, value));

  j->stages[stage].lag = most(j->stages[stage].lag, v->lag + ahead);
}

static void set_lag(ambit__fused_job *j, int stage, int value)
{
  j->values[value].lag = j->stages[stage].lag;
}

/* A loaded value need not arrive before its first reader needs it. */
static void postpone(ambit__fused_job *j, int stage, int value, const int *offset)
{
  ambit__fused_value *v = &j->values[value];
  const int ahead = most(offset[j->z], needs_inside(j, value));

  if (j->pipe->values[value].stage >= 0) return;
  if (v->lag < 0 || v->lag > j->stages[stage].lag - ahead) v->lag = j->stages[stage].lag - ahead;
}

static void find_lags(ambit__fused_job *j)
{
  for (int i = 0; i < j->pipe->nstages; i++) {
    each_read(j, i, delay);
    each_result(j, i, set_lag);
  }
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (j->pipe->values[v].stage < 0) j->values[v].lag = -1;
  for (int i = 0; i < j->pipe->nstages; i++)
    each_read(j, i, postpone);
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (j->values[v].lag < 0) j->values[v].lag = 0;
}

/* ---- rows that are kept ---- */

/* Sums use a row when it arrives. */
static void keep(ambit__fused_job *j, int stage, int value, const int *offset)
{
  ambit__fused_value *v = &j->values[value];
  const int lag = j->stages[stage].taps ? v->lag : j->stages[stage].lag - offset[j->z];

  v->last = most(v->last, lag);
  if (offset[j->x] && (v->shared < 0 || v->shared > lag)) v->shared = lag;
}

/* Rows outside the faces are copies of rows that must still be there. */
static void keep_mirrored(ambit__fused_job *j, int value)
{
  ambit__fused_value *v = &j->values[value];
  const int high = v->high;

  if (v->low && mirror(kind_of(j, value, 0), v->low))
    v->last = most(v->last, v->lag + needs_inside(j, value) + v->low);
  if (high && mirror(kind_of(j, value, 1), high))
    v->last = most(v->last, v->lag + high - 1 + mirror(kind_of(j, value, 1), high));
}

static void find_rows(ambit__fused_job *j)
{
  for (int v = 0; v < j->pipe->nvalues; v++) {
    j->values[v].last = j->values[v].lag;
    j->values[v].shared = -1;
  }
  for (int i = 0; i < j->pipe->nstages; i++)
    each_read(j, i, keep);
  for (int v = 0; v < j->pipe->nvalues; v++)
    keep_mirrored(j, v);
}

/* All arrays have the same number of rows, of which compilers keep those that are in use. */
static void find_period(ambit__fused_job *j)
{
  j->period = 1;
  for (int v = 0; v < j->pipe->nvalues; v++)
    j->period = most(j->period, j->values[v].last - j->values[v].lag + 1);
  for (int i = 0; i < j->pipe->nstages; i++)
    if (j->stages[i].taps) j->period = most(j->period, j->stages[i].high - j->stages[i].low);
  while (j->period % j->ahead)
    j->period++;
}

/* ---- cells beside a tile ---- */

static void widen(ambit__fused_cells *a, const ambit__fused_cells *b)
{
  a->low = most(a->low, b->low);
  a->high = most(a->high, b->high);
  a->left = most(a->left, b->left);
  a->right = most(a->right, b->right);
}

static void take(ambit__fused_job *j, int stage, int value)
{
  widen(&j->stages[stage].beside, &j->values[value].beside);
}

static void give(ambit__fused_job *j, int stage, int value, const int *offset)
{
  ambit__fused_cells c = j->stages[stage].beside;

  c.low += most(0, -offset[j->z]);
  c.high += most(0, offset[j->z]);
  c.left += most(0, -offset[j->x]);
  c.right += most(0, offset[j->x]);
  widen(&j->values[value].beside, &c);
}

static int round_up(int n, int unit)
{
  return (n + unit - 1) / unit * unit;
}

/* Backwards, from the results to the loaded values. */
static void find_beside(ambit__fused_job *j)
{
  ambit__fused_cells all = {0};
  int first = 0;

  for (int i = j->pipe->nstages - 1; i >= 0; i--) {
    each_result(j, i, take);
    each_read(j, i, give);
  }
  for (int v = 0; v < j->pipe->nvalues; v++) {
    widen(&all, &j->values[v].beside);
    j->lead = most(j->lead, j->values[v].beside.low - j->values[v].lag);
    if (j->pipe->values[v].target >= 0) j->drain = most(j->drain, j->values[v].lag);
    if (j->pipe->values[v].stage < 0) first = most(first, j->values[v].lag);
  }
  j->below = j->lead + first;
  j->above = j->drain;
  j->before = round_up(all.left, j->lane);
  j->after = round_up(all.right, j->lane);
}

/* ---- sums ---- */

/* Finds the taps of a stage that is a weighted sum over several rows. false: memory ran out. */
static bool find_taps(ambit__fused_job *j, int stage)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];
  ambit__fused_stage *f = &j->stages[stage];
  int written;

  if (st->rule->nparams != 2 || st->port[0] < 0 || st->port[1] < 0) return true;
  f->taps = calloc(MOST_TAPS, sizeof *f->taps);
  if (!f->taps) return false;
  if (ambit__rule_taps(st->rule, f->taps, MOST_TAPS, &f->ntaps) && f->ntaps) {
    f->low = f->high = f->taps[0].offset[j->z];
    for (int k = 0; k < f->ntaps; k++) {
      const int z = f->taps[k].offset[j->z];

      if (z < f->low) f->low = z;
      if (z > f->high) f->high = z;
    }
    written = st->rule->params[1].is_written;
    f->value = j->pipe->in[st->port[!written]];
    f->result = j->pipe->out[st->port[written]];
    if (f->high > f->low && f->result >= 0) return true;
  }
  free(f->taps);
  f->taps = NULL;
  return true;
}

/* ---- the job ---- */

static int reach_of(const ambit__fused_job *j)
{
  int n = 0;

  for (int v = 0; v < j->pipe->nvalues; v++)
    n = most(n, most(j->values[v].left, j->values[v].right));
  return n;
}

bool ambit__fused_begin(const ambit__group *g, const ambit__plan *p, bool edge, ambit__fused_job *j)
{
  const int half = (int)p->strip / 2;

  *j = (ambit__fused_job){.pipe = g->pipeline,
                          .edge = edge,
                          .x = g->ndims - 1,
                          .z = g->ndims - 2,
                          .lane = (int)p->strip,
                          .ahead = edge ? 1 : p->ahead};
  for (int i = 0; p->sums && !edge && i < j->pipe->nstages; i++)
    if (!find_taps(j, i)) return false;
  for (int i = 0; i < j->pipe->nstages; i++)
    each_read(j, i, note_reach);
  find_lags(j);
  find_rows(j);
  find_period(j);
  find_beside(j);
  for (int v = 0; v < j->pipe->nvalues; v++)
    if (j->values[v].left > j->lane || j->values[v].right > j->lane) return false;
  /* tests take registers: narrower strips leave room for them */
  if (edge && half && AMBIT__FUSED_WARP * half > 2 * (j->before + j->after) && reach_of(j) <= half)
    j->lane = half;
  return j->period <= MOST_PERIOD && ambit__fused_useful(j) > 0;
}

void ambit__fused_end(ambit__fused_job *j)
{
  for (int i = 0; i < AMBIT__PIPE_STAGES; i++)
    free(j->stages[i].taps);
}

int ambit__fused_inset(const ambit__pipeline *p, int axis, int side)
{
  int n = 0;

  for (int i = 0; i < p->nstages; i++)
    n = most(n, p->stages[i].inset[axis][side]);
  return n;
}

static int words(const ambit__fused_job *j, int value)
{
  return ambit_type_size(j->pipe->values[value].type) > 4 ? 2 : 1;
}

int ambit__fused_registers(const ambit__fused_job *j)
{
  int n = j->edge ? EDGE_REGISTERS : REGISTERS, wide = 0;

  for (int v = 0; v < j->pipe->nvalues; v++) {
    const ambit__fused_value *f = &j->values[v];
    const int rows = f->last - f->lag + 1, shared = f->shared < 0 ? 0 : f->last - f->shared;

    n += words(j, v) * ((rows - 1) * j->lane + shared * (f->left + f->right));
    if (j->pipe->values[v].stage < 0) n += words(j, v) * j->ahead * j->lane + 2;
    if (j->pipe->values[v].target >= 0) n += 2;
    wide = most(wide, words(j, v) * (2 * j->lane + f->left + f->right));
  }
  for (int i = 0; i < j->pipe->nstages; i++)
    if (j->stages[i].taps)
      n += words(j, j->stages[i].value) * (j->stages[i].high - j->stages[i].low) * j->lane;
  return n + wide + (wide > 2 * j->lane + 4 ? DOUBLE_CONSTANTS : 0);
}
