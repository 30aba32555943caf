/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_stage.c - the work of one stage in one turn: a row of each value it computes.
 *
 * Value 3 is q3[slot][cell], where the cells of a lane stand between those of the adjacent lanes; a
 * row keeps its slot while it is needed. All loops but the one over turns are unrolled, so that
 * arrays become registers. Partial results of stage 2 are s2[slot][cell].
 */
#include "plan/fused.h"

#include <stdio.h>

/* ---- names ---- */

/* "[(p + 1) % 3]": the slot of the row with this lag. */
static void print_slot(const ambit__fused_job *j, int lag)
{
  const int n = j->period, slot = ((-lag) % n + n) % n;

  if (n == 1)
    ambit__print(j->gpu.t, "[0]");
  else if (slot)
    ambit__print(j->gpu.t, "[(p + %d) %% %d]", slot, n);
  else
    ambit__print(j->gpu.t, "[p]");
}

void ambit__fused_print_row(const ambit__fused_job *j, int value, int lag)
{
  ambit__print(j->gpu.t, "q%d", value);
  print_slot(j, lag);
}

/* "q3[(p + 1) % 3][j + 2]" */
static void print_cell(const ambit__fused_job *j, int value, int lag, int dx)
{
  const int at = j->values[value].left + dx;

  ambit__fused_print_row(j, value, lag);
  if (at)
    ambit__print(j->gpu.t, "[j + %d]", at);
  else
    ambit__print(j->gpu.t, "[j]");
}

static const char *type_of(const ambit__fused_job *j, int value)
{
  return j->gpu.dialect->types[j->pipe->values[value].type];
}

static void open_cells(const ambit__fused_job *j)
{
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__open(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
}

/* ---- windows: the rule's own expressions ---- */

/* The stage whose expressions are written. */
typedef struct place {
  const ambit__fused_job *j;
  int stage;
} place;

static void read(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const place *at = s->user;
  const ambit__pipe_stage *st = &at->j->pipe->stages[at->stage];
  int value;

  if (st->port[e->index] < 0) {
    ambit__name_value(s, t, e->index);
    return;
  }
  value = at->j->pipe->in[st->port[e->index] + e->component];
  print_cell(at->j, value, at->j->stages[at->stage].lag - e->offset[at->j->z], e->offset[at->j->x]);
}

/* Scalars and numbers have the names of the rule's parameters within a stage. */
static void declare_values(const place *at, const ambit__scope *s)
{
  const ambit__gpucode_job *gpu = &at->j->gpu;
  const ambit__pipe_stage *st = &at->j->pipe->stages[at->stage];
  const ambit__scope operands = ambit__gpucode_scope(gpu);

  for (int i = 0; i < st->rule->nparams; i++) {
    if (st->operand[i] < 0) continue;
    ambit__line_begin(gpu->w);
    ambit__print(gpu->t, "const %s ", gpu->dialect->types[st->rule->params[i].type]);
    ambit__name_value(s, gpu->t, i);
    ambit__print(gpu->t, " = ");
    ambit__name_value(&operands, gpu->t, st->operand[i]);
    ambit__line_end(gpu->w, ";");
  }
}

/* The index of a cell. Cells beyond a periodic face are those at the other end. */
static void declare_index(const ambit__fused_job *j, const ambit__pipe_stage *st, int lag)
{
  const char *integer = j->gpu.integer;

  for (int d = 0; d <= st->rule->max_axis; d++) {
    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t, "const %s i%d = ", integer, d);
    if (j->edge && j->pipe->periodic[d]) ambit__print(j->gpu.t, "ambit_modulo(");
    ambit__print(j->gpu.t, d == j->x ? "offset%d + x + j" : "offset%d + row - %d", d, lag);
    if (j->edge && j->pipe->periodic[d]) ambit__print(j->gpu.t, ", extent%d)", d);
    ambit__line_end(j->gpu.w, ";");
  }
}

/* Calls f for each component that the rule writes, and for each reduction with value -1. */
static void each_output(const place *at, const ambit__scope *s,
                        void (*f)(const place *at, const ambit__scope *s, int param, int component))
{
  const ambit__pipe_stage *st = &at->j->pipe->stages[at->stage];

  for (int i = 0; i < st->rule->nparams; i++)
    for (int c = 0; c < st->rule->params[i].components; c++)
      if (st->rule->params[i].kind == PARAM_REDUCE ||
          (st->port[i] >= 0 && st->rule->params[i].writes[c]))
        f(at, s, i, c);
}

static void declare_out(const place *at, const ambit__scope *s, int param, int component)
{
  const ambit__fused_job *j = at->j;
  const ambit__pipe_stage *st = &j->pipe->stages[at->stage];
  const ambit__param *p = &st->rule->params[param];

  ambit__line_begin(j->gpu.w);
  if (p->kind == PARAM_REDUCE) { /* nobody looks at it */
    ambit__print(j->gpu.t, "%s ", j->gpu.dialect->types[p->type]);
    ambit__name_out(s, j->gpu.t, param, component);
    ambit__print(j->gpu.t, " = ");
    ambit__emit_identity(s, j->gpu.t, p->reduce, p->type);
  } else {
    ambit__print(j->gpu.t, "%s ", j->gpu.dialect->types[p->type]);
    ambit__name_out(s, j->gpu.t, param, component);
    if (p->keeps[component]) {
      ambit__print(j->gpu.t, " = ");
      print_cell(j, j->pipe->in[st->port[param] + component], j->stages[at->stage].lag, 0);
    }
  }
  ambit__line_end(j->gpu.w, ";");
}

static void keep_out(const place *at, const ambit__scope *s, int param, int component)
{
  const ambit__fused_job *j = at->j;
  const ambit__pipe_stage *st = &j->pipe->stages[at->stage];

  if (st->port[param] < 0) return;
  ambit__line_begin(j->gpu.w);
  print_cell(j, j->pipe->out[st->port[param] + component], j->stages[at->stage].lag, 0);
  ambit__print(j->gpu.t, " = ");
  ambit__name_out(s, j->gpu.t, param, component);
  ambit__line_end(j->gpu.w, ";");
}

static void emit_window(const ambit__fused_job *j, int stage)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];
  const place at = {j, stage};
  ambit__scope s = ambit__gpucode_scope(&j->gpu);
  char step[40];

  snprintf(step, sizeof step, "(step + %d)", st->iteration);
  s.rule = st->rule;
  s.read = read;
  s.step = step;
  s.user = &at;
  declare_values(&at, &s);
  open_cells(j);
  declare_index(j, st, j->stages[stage].lag);
  each_output(&at, &s, declare_out);
  ambit__emit_stmts(&s, j->gpu.w, st->rule->body);
  each_output(&at, &s, keep_out);
  ambit__close(j->gpu.w);
}

/* ---- sums ---- */

void ambit__fused_declare_stage(const ambit__fused_job *j, int stage)
{
  const ambit__fused_stage *f = &j->stages[stage];

  if (f->taps)
    ambit__line(j->gpu.w, "%s s%d[%d][%d] = {};", type_of(j, f->result), stage, j->period, j->lane);
}

/* "sum", or "s2[(p + 1) % 2][j]": the result that a row is added to at distance dz. */
static void print_sum(const ambit__fused_job *j, int stage, int dz)
{
  const ambit__fused_stage *f = &j->stages[stage];

  if (dz == f->high) {
    ambit__print(j->gpu.t, "sum");
    return;
  }
  ambit__print(j->gpu.t, "s%d", stage);
  print_slot(j, j->values[f->value].lag + dz);
  ambit__print(j->gpu.t, "[j]");
}

static void add_taps(const ambit__fused_job *j, int stage, int dz)
{
  const ambit__fused_stage *f = &j->stages[stage];
  const ambit_type type = j->pipe->values[f->result].type;
  bool begins = dz == f->low;

  for (int k = 0; k < f->ntaps; k++) {
    if (f->taps[k].offset[j->z] != dz) continue;
    ambit__line_begin(j->gpu.w);
    print_sum(j, stage, dz);
    ambit__print(j->gpu.t, begins ? " = " : " += ");
    ambit__emit_constant(j->gpu.dialect, j->gpu.t, type, ambit__value_of(f->taps[k].weight, type));
    ambit__print(j->gpu.t, " * ");
    print_cell(j, f->value, j->values[f->value].lag, f->taps[k].offset[j->x]);
    ambit__line_end(j->gpu.w, ";");
    begins = false;
  }
}

/* The row that arrived completes one row of results, whose place the next new one takes. */
static void emit_sum(const ambit__fused_job *j, int stage)
{
  const ambit__fused_stage *f = &j->stages[stage];
  const int first = j->values[f->value].lag;

  open_cells(j);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s sum = s%d", type_of(j, f->result), stage);
  print_slot(j, first + f->high);
  ambit__line_end(j->gpu.w, "[j];");
  for (int dz = f->high; dz >= f->low; dz--)
    add_taps(j, stage, dz);
  ambit__line_begin(j->gpu.w);
  print_cell(j, f->result, first + f->high, 0);
  ambit__line_end(j->gpu.w, " = sum;");
  ambit__close(j->gpu.w);
}

/* ---- the stage ---- */

void ambit__fused_emit_stage(const ambit__fused_job *j, int stage)
{
  const ambit__pipe_stage *st = &j->pipe->stages[stage];

  ambit__open(j->gpu.w, "/* %s, iteration %d */", st->rule->name, st->iteration);
  if (j->stages[stage].taps)
    emit_sum(j, stage);
  else
    emit_window(j, stage);
  ambit__close(j->gpu.w);
}
