/* SPDX-License-Identifier: BSD-3-Clause */
/* fused_stage.c - the work of one stage in one turn: a row of each value it computes.
 *
 * Value 3 is q3[slot][cell], where the cells of a lane stand between those of the adjacent lanes; a
 * row keeps its slot while it is needed. All loops but the one over turns are unrolled, so that
 * arrays become registers. Partial results of stage 2 are s2[slot][cell]. In three dimensions they
 * are q3[slot][row][cell] and s2[slot][row][cell], and the rows of a lane stand between those of
 * the adjacent groups. In a brick they are q3[plane][row][cell], and the planes stand between those
 * outside it.
 */
#include "plan/fused.h"

#include <math.h>
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

/* "[r + 2]" */
static void print_at(const ambit__fused_job *j, const char *name, int at)
{
  if (at)
    ambit__print(j->gpu.t, "[%s %c %d]", name, at < 0 ? '-' : '+', at < 0 ? -at : at);
  else
    ambit__print(j->gpu.t, "[%s]", name);
}

void ambit__fused_print_plane(const ambit__fused_job *j, int value, int lag)
{
  ambit__print(j->gpu.t, "q%d", value);
  if (j->planes)
    print_at(j, "k", j->values[value].low - lag);
  else
    print_slot(j, lag);
}

void ambit__fused_print_row(const ambit__fused_job *j, int value, int lag)
{
  ambit__fused_print_plane(j, value, lag);
  if (j->y >= 0) print_at(j, "r", j->values[value].down);
}

/* "q3[(p + 1) % 3][j + 2]" */
static void print_cell(const ambit__fused_job *j, int value, int lag, const int *offset)
{
  ambit__fused_print_plane(j, value, lag);
  if (j->y >= 0) print_at(j, "r", j->values[value].down + offset[j->y]);
  print_at(j, "j", j->values[value].left + offset[j->x]);
}

static const char *type_of(const ambit__fused_job *j, int value)
{
  return j->gpu.dialect->types[j->pipe->values[value].type];
}

void ambit__fused_open_planes(const ambit__fused_job *j, int first, int end)
{
  if (!j->planes || j->in_plane) return;
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__open(j->gpu.w, "for (int k = %d; k < %d; k++)", first, end);
}

void ambit__fused_open_own_planes(const ambit__fused_job *j)
{
  ambit__fused_open_planes(j, 0, j->planes);
}

void ambit__fused_close_planes(const ambit__fused_job *j)
{
  if (j->planes && !j->in_plane) ambit__close(j->gpu.w);
}

void ambit__fused_open_rows(const ambit__fused_job *j, int first, int end)
{
  if (j->y < 0) return;
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__open(j->gpu.w, "for (int r = %d; r < %d; r++)", first, end);
}

void ambit__fused_close_rows(const ambit__fused_job *j)
{
  if (j->y >= 0) ambit__close(j->gpu.w);
}

void ambit__fused_print_bit(const ambit__fused_job *j)
{
  ambit__print(j->gpu.t, j->y < 0 ? "j" : "(r * %d + j)", j->lane);
}

void ambit__fused_print_call(const ambit__fused_job *j, const char *name, int value)
{
  if (j->gpu.dialect->has_lanes)
    ambit__print(j->gpu.t, "%s<%d>(", name, j->lane);
  else
    ambit__print(j->gpu.t, "%s_%s_%d(", name, type_of(j, value), j->lane);
}

void ambit__fused_open_cells(const ambit__fused_job *j)
{
  ambit__fused_open_rows(j, 0, j->rows);
  ambit__print(j->gpu.t, "#pragma unroll\n");
  ambit__open(j->gpu.w, "for (int j = 0; j < %d; j++)", j->lane);
}

void ambit__fused_close_cells(const ambit__fused_job *j)
{
  ambit__close(j->gpu.w);
  ambit__fused_close_rows(j);
}

static const int HERE[AMBIT_MAX_DIMS] = {0};

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
  print_cell(at->j, value, at->j->stages[at->stage].lag - e->offset[at->j->z], e->offset);
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
    ambit__print(j->gpu.t,
                 d == j->x   ? "offset%d + x + j"
                 : d == j->y ? "offset%d + y + r"
                 : j->planes ? "offset%d + z + k"
                             : "offset%d + row - %d",
                 d, lag);
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
    ambit__emit_identity(s, j->gpu.t, p);
  } else {
    ambit__print(j->gpu.t, "%s ", j->gpu.dialect->types[p->type]);
    ambit__name_out(s, j->gpu.t, param, component);
    if (p->keeps[component]) {
      ambit__print(j->gpu.t, " = ");
      print_cell(j, j->pipe->in[st->port[param] + component], j->stages[at->stage].lag, HERE);
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
  print_cell(j, j->pipe->out[st->port[param] + component], j->stages[at->stage].lag, HERE);
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
  ambit__fused_open_own_planes(j);
  if (j->begin_plane) j->begin_plane(j, stage);
  if (st->nplaces) ambit__fused_open_place(j, stage);
  ambit__fused_open_cells(j);
  if (st->nplaces) ambit__fused_skip_outside(j, stage);
  declare_index(j, st, j->stages[stage].lag);
  each_output(&at, &s, declare_out);
  ambit__emit_stmts(&s, j->gpu.w, st->rule->body);
  each_output(&at, &s, keep_out);
  ambit__fused_close_cells(j);
  if (st->nplaces) ambit__close(j->gpu.w);
  ambit__fused_close_planes(j);
}

/* ---- sums ---- */

/* A parameter of a stage, outside its block. */
static bool print_operand(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const place *at = s->user;
  const ambit__scope operands = ambit__gpucode_scope(&at->j->gpu);

  if (e->op != EXPR_VALUE) return false;
  ambit__name_value(&operands, t, at->j->pipe->stages[at->stage].operand[e->index]);
  return true;
}

static ambit__scope outer_scope(const place *at)
{
  ambit__scope s = ambit__gpucode_scope(&at->j->gpu);

  s.rule = at->j->pipe->stages[at->stage].rule;
  s.instead = print_operand;
  s.user = at;
  return s;
}

/* "const float w2_0 = 1.0f - 4.0f * k_v;": the weights of a stage that are shared locals. */
static void declare_weights(const ambit__fused_job *j, int stage)
{
  const place at = {j, stage};
  const ambit__scope s = outer_scope(&at);

  for (const ambit__stmt *st = s.rule->body; st; st = st->next) {
    if (st->kind != STMT_LOCAL || !s.rule->locals[st->index].is_shared) continue;
    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t,
                 "const %s w%d_%d = ", j->gpu.dialect->types[s.rule->locals[st->index].type], stage,
                 st->index);
    ambit__emit_expr(&s, j->gpu.t, st->value);
    ambit__line_end(j->gpu.w, ";");
  }
}

/* "0.25f", "-w2_0" */
static void print_weight(const ambit__fused_job *j, int stage, const ambit__tap *tap)
{
  const ambit_type type = j->pipe->values[j->stages[stage].result].type;
  const place at = {j, stage};
  const ambit__scope s = outer_scope(&at);

  if (!tap->factor || fabs(tap->weight) != 1)
    ambit__emit_constant(j->gpu.dialect, j->gpu.t, type, ambit__value_of(tap->weight, type));
  else if (tap->weight < 0)
    ambit__print(j->gpu.t, "-");
  if (!tap->factor) return;
  if (fabs(tap->weight) != 1) ambit__print(j->gpu.t, " * ");
  if (tap->factor->op == EXPR_LOCAL)
    ambit__print(j->gpu.t, "w%d_%d", stage, tap->factor->index);
  else
    ambit__emit_expr(&s, j->gpu.t, tap->factor);
}

void ambit__fused_declare_stage(const ambit__fused_job *j, int stage)
{
  const ambit__fused_stage *f = &j->stages[stage];
  const char *type;

  if (!f->taps) return;
  declare_weights(j, stage);
  type = type_of(j, f->result);
  if (j->y < 0)
    ambit__line(j->gpu.w, "%s s%d[%d][%d] = {0};", type, stage, j->period, j->lane);
  else
    ambit__line(j->gpu.w, "%s s%d[%d][%d][%d] = {0};", type, stage, j->period, j->rows, j->lane);
}

/* "s2[(p + 1) % 2][j]" */
static void print_partial(const ambit__fused_job *j, int stage, int lag)
{
  ambit__print(j->gpu.t, "s%d", stage);
  print_slot(j, lag);
  ambit__print(j->gpu.t, j->y < 0 ? "[j]" : "[r][j]");
}

/* "sum", or "s2[(p + 1) % 2][j]": the result with this lag. */
static void print_sum(const ambit__fused_job *j, int stage, int lag)
{
  if (lag == j->stages[stage].lag)
    ambit__print(j->gpu.t, "sum");
  else
    print_partial(j, stage, lag);
}

/* Adds a tap of the row with this lag. */
static void add_tap(const ambit__fused_job *j, int stage, const ambit__tap *tap, int lag,
                    bool begins)
{
  const ambit__fused_stage *f = &j->stages[stage];

  print_sum(j, stage, lag + tap->offset[j->z]);
  ambit__print(j->gpu.t, begins ? " = " : " += ");
  print_weight(j, stage, tap);
  ambit__print(j->gpu.t, " * ");
  print_cell(j, f->value, lag, tap->offset);
  ambit__print(j->gpu.t, ";");
}

/* The lag of the plane that a sum adds. */
static int newest(const ambit__fused_job *j, int stage)
{
  return j->values[j->stages[stage].value].lag + j->stages[stage].late;
}

/* A tap in another row. If that row belongs to an adjacent group it comes from the plane before,
 * unless all rows do. */
static void add_beside(const ambit__fused_job *j, int stage, const ambit__tap *tap, bool begins)
{
  const ambit__fused_stage *f = &j->stages[stage];
  const int dy = tap->offset[j->y];

  ambit__line_begin(j->gpu.w);
  if (!f->late && dy < 0) ambit__print(j->gpu.t, "if (r >= %d) ", -dy);
  if (!f->late && dy > 0) ambit__print(j->gpu.t, "if (r < %d) ", j->rows - dy);
  add_tap(j, stage, tap, newest(j, stage), begins);
  if (!f->late) {
    ambit__print(j->gpu.t, " else ");
    add_tap(j, stage, tap, j->values[f->value].lag + 1, false);
  }
  ambit__line_end(j->gpu.w, "");
}

static bool is_beside(const ambit__fused_job *j, const ambit__tap *tap)
{
  return j->y >= 0 && tap->offset[j->y];
}

/* Taps in the own row first: one of them begins the result, in all rows. */
static void add_taps(const ambit__fused_job *j, int stage, int dz)
{
  const ambit__fused_stage *f = &j->stages[stage];
  bool begins = dz == f->low;

  for (int k = 0; k < f->ntaps; k++) {
    if (f->taps[k].offset[j->z] != dz || is_beside(j, &f->taps[k])) continue;
    ambit__line_begin(j->gpu.w);
    add_tap(j, stage, &f->taps[k], newest(j, stage), begins);
    ambit__line_end(j->gpu.w, "");
    begins = false;
  }
  if (begins && j->y >= 0 && !f->late) {
    ambit__line_begin(j->gpu.w);
    print_sum(j, stage, newest(j, stage) + dz);
    ambit__line_end(j->gpu.w, " = 0;");
    begins = false;
  }
  for (int k = 0; k < f->ntaps; k++) {
    if (f->taps[k].offset[j->z] != dz || !is_beside(j, &f->taps[k])) continue;
    add_beside(j, stage, &f->taps[k], begins);
    begins = false;
  }
}

/* ---- sums at faces: cells outside the region of the stage keep their values ---- */

bool ambit__fused_freezes(const ambit__fused_job *j, int stage)
{
  const ambit__fused_stage *f = &j->stages[stage];

  return j->edge && f->taps && f->high >= 0 && j->pipe->values[f->result].frozen == f->value;
}

/* One bit per cell of the plane with this lag: it is outside. */
static void declare_frozen(const ambit__fused_job *j, int stage, int lag)
{
  const int *inset = j->pipe->stages[stage].inset[j->z];

  if (j->pipe->periodic[j->z] || !(inset[0] || inset[1]))
    ambit__line(j->gpu.w, "const unsigned frozen%d = out%d;", lag, stage);
  else
    ambit__line(j->gpu.w,
                "const unsigned frozen%d = row - %d < first%d + %d || row - %d >= end%d - %d ? "
                "0xffffffffu : out%d;",
                lag, lag, j->z, inset[0], lag, j->z, inset[1], stage);
}

static void keep_old(const ambit__fused_job *j, int stage, int lag)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const %s old%d = ", type_of(j, j->stages[stage].result), lag);
  print_partial(j, stage, lag);
  ambit__line_end(j->gpu.w, ";");
}

/* The partial result of such a cell is its value from the turn on in which that arrives. */
static void freeze(const ambit__fused_job *j, int stage, int lag)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "if (frozen%d >> ", lag);
  ambit__fused_print_bit(j);
  ambit__print(j->gpu.t, " & 1) ");
  print_sum(j, stage, lag);
  ambit__print(j->gpu.t, " = ");
  if (lag == newest(j, stage))
    print_cell(j, j->stages[stage].value, lag, HERE);
  else
    ambit__print(j->gpu.t, "old%d", lag);
  ambit__line_end(j->gpu.w, ";");
}

/* The row that arrived completes one row of results, whose place the next new one takes. */
static void emit_sum(const ambit__fused_job *j, int stage)
{
  const ambit__fused_stage *f = &j->stages[stage];
  const int first = newest(j, stage), end = ambit__fused_freezes(j, stage) ? f->lag + 1 : first;

  for (int lag = first; lag < end; lag++)
    declare_frozen(j, stage, lag);
  ambit__fused_open_cells(j);
  for (int lag = first + 1; lag < end; lag++)
    keep_old(j, stage, lag);
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s sum = ", type_of(j, f->result));
  print_partial(j, stage, f->lag);
  ambit__line_end(j->gpu.w, ";");
  for (int dz = f->high; dz >= f->low; dz--)
    add_taps(j, stage, dz);
  for (int lag = first; lag < end; lag++)
    freeze(j, stage, lag);
  ambit__line_begin(j->gpu.w);
  print_cell(j, f->result, f->lag, HERE);
  ambit__line_end(j->gpu.w, " = sum;");
  ambit__fused_close_cells(j);
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
