/* SPDX-License-Identifier: BSD-3-Clause */
/* stage.c - the work of one stage in one turn: a row of each value it computes. */
#include "nest/window/window.h"

static const ambit__rule *rule_of(const ambit__window *j, int stage)
{
  return j->flow->stages[stage].rule;
}

/* ---- windows: the rule's own expressions ---- */

/* The rule of a stage, for hooks: `row` is the stage. */
static ambit__node rule_node(const ambit__window *j, int stage)
{
  return (ambit__node){
      .kind = NODE_RULE, .inside = -1, .row = stage, .of = rule_of(j, stage), .user = j};
}

bool ambit__window_read(ambit__nest *n, const ambit__node *rule, ambit__text *t,
                        const ambit__expr *e)
{
  const ambit__window *j = rule->user;
  const ambit__flow_stage *st = &j->flow->stages[rule->row];

  (void)n;
  if (st->port[e->index] < 0)
    ambit__print(t, "%s_v", st->rule->params[e->index].name);
  else
    ambit__print(t, "%s",
                 ambit__window_cell(j, j->flow->in[st->port[e->index] + e->component],
                                    j->stages[rule->row].lag - e->offset[j->z], e->offset));
  return true;
}

static const char *name_operand(const ambit__window *j, int stage, int param)
{
  const int operand = j->flow->stages[stage].operand[param];

  return ambit__nest_text(j->n, "%s_v", ambit__nest_name(j->n, operand));
}

/* Scalars and numbers have the names of the rule's parameters within a stage. */
static void let_values(const ambit__window *j, int stage)
{
  const ambit__flow_stage *st = &j->flow->stages[stage];

  for (int i = 0; i < st->rule->nparams; i++)
    if (st->operand[i] >= 0)
      ambit__nest_do(j->n, "const %s %s_v = %s", j->n->dialect->types[st->rule->params[i].type],
                     st->rule->params[i].name, name_operand(j, stage, i));
}

/* The index of a cell. Cells beyond a periodic face are those at the other end. */
static void let_index(const ambit__window *j, int stage)
{
  for (int d = 0; d <= rule_of(j, stage)->max_axis; d++) {
    const bool wraps = j->edge && j->flow->periodic[d];
    const char *at = d == j->x   ? "x + j"
                     : d == j->y ? "y + r"
                     : j->planes ? "z + k"
                                 : ambit__nest_text(j->n, "row - %d", j->stages[stage].lag);

    at = ambit__nest_text(j->n, "offset%d + %s", d, at);
    if (wraps) at = ambit__nest_text(j->n, "ambit_modulo(%s, extent%d)", at, d);
    ambit__nest_do(j->n, "const %s i%d = %s", j->n->integer, d, at);
  }
}

/* Variables for the components that the rule writes, and for reductions, at which nobody looks. */
static void let_outputs(const ambit__window *j, int stage)
{
  const ambit__flow_stage *st = &j->flow->stages[stage];

  for (int i = 0; i < st->rule->nparams; i++)
    for (int c = 0; c < st->rule->params[i].components; c++) {
      const ambit__param *p = &st->rule->params[i];
      const char *first = NULL;

      if (p->kind == PARAM_REDUCE)
        first = ambit__nest_identity(j->n, p);
      else if (st->port[i] < 0 || !p->writes[c])
        continue;
      else if (p->keeps[c])
        first = ambit__window_own(j, j->flow->in[st->port[i] + c], j->stages[stage].lag);
      ambit__nest_do(j->n, "%s %s%s%s", j->n->dialect->types[p->type],
                     ambit__nest_name_of(j->n, "out", p, c), first ? " = " : "",
                     first ? first : "");
    }
}

static void keep_outputs(const ambit__window *j, int stage)
{
  const ambit__flow_stage *st = &j->flow->stages[stage];

  for (int i = 0; i < st->rule->nparams; i++)
    for (int c = 0; st->port[i] >= 0 && c < st->rule->params[i].components; c++)
      if (st->rule->params[i].writes[c])
        ambit__nest_do(j->n, "%s = %s",
                       ambit__window_own(j, j->flow->out[st->port[i] + c], j->stages[stage].lag),
                       ambit__nest_name_of(j->n, "out", &st->rule->params[i], c));
}

static void add_window(const ambit__window *j, int stage)
{
  const ambit__flow_stage *st = &j->flow->stages[stage];
  ambit__node rule = rule_node(j, stage);

  rule.step = ambit__nest_text(j->n, "(step + %d)", st->iteration);
  let_values(j, stage);
  ambit__window_open_own_planes(j);
  if (j->begin_plane) j->begin_plane(j, stage);
  if (st->nplaces) ambit__window_open_place(j, stage);
  ambit__window_open_cells(j);
  if (st->nplaces) ambit__window_skip_outside(j, stage);
  let_index(j, stage);
  let_outputs(j, stage);
  ambit__nest_add(j->n, rule);
  keep_outputs(j, stage);
  ambit__window_close_cells(j);
  if (st->nplaces) ambit__nest_close(j->n);
  ambit__window_close_planes(j);
}

/* ---- sums ---- */

/* A parameter of a stage, outside its block: weights know no step. */
bool ambit__window_instead(ambit__nest *n, const ambit__node *rule, ambit__text *t,
                           const ambit__expr *e)
{
  (void)n;
  if (!rule || !rule->of || rule->step || e->op != EXPR_VALUE) return false;
  ambit__print(t, "%s", name_operand(rule->user, rule->row, e->index));
  return true;
}

/* "const float w2_0 = 1.0f - 4.0f * k_v": the weights of a stage that are shared locals. */
static void let_weights(const ambit__window *j, int stage)
{
  const ambit__node node = rule_node(j, stage);

  for (const ambit__stmt *st = node.of->body; st; st = st->next)
    if (st->kind == STMT_LOCAL && node.of->locals[st->index].is_shared)
      ambit__nest_do(j->n, "const %s w%d_%d = %s",
                     j->n->dialect->types[node.of->locals[st->index].type], stage, st->index,
                     ambit__nest_expr(j->n, &node, st->value));
}

/* "0.25f", "-w2_0" */
static const char *weight_of(const ambit__window *j, int stage, const ambit__tap *tap)
{
  const ambit_type type = j->flow->values[j->stages[stage].result].type;
  const ambit__node node = rule_node(j, stage);
  const char *factor = NULL;

  if (tap->factor && tap->factor->op == EXPR_LOCAL)
    factor = ambit__nest_text(j->n, "w%d_%d", stage, tap->factor->index);
  else if (tap->factor)
    factor = ambit__nest_expr(j->n, &node, tap->factor);
  return ambit__nest_weight(j->n, type, tap->weight, factor);
}

void ambit__window_let_partials(const ambit__window *j, int stage)
{
  if (!j->stages[stage].taps) return;
  let_weights(j, stage);
  ambit__window_let_array(j, ambit__nest_text(j->n, "s%d", stage), j->stages[stage].result, true,
                          j->period, j->rows, j->lane);
}

/* "sum", or "s2[(p + 1) % 2][j]": the result with this lag. */
static const char *sum_of(const ambit__window *j, int stage, int lag)
{
  return lag == j->stages[stage].lag ? "sum" : ambit__window_partial(j, stage, lag);
}

/* Adds a tap of the row with this lag. */
static void add_tap(const ambit__window *j, int stage, const ambit__tap *tap, int lag, bool begins)
{
  ambit__nest_do(j->n, "%s %s %s * %s", sum_of(j, stage, lag + tap->offset[j->z]),
                 begins ? "=" : "+=", weight_of(j, stage, tap),
                 ambit__window_cell(j, j->stages[stage].value, lag, tap->offset));
}

/* The lag of the plane that a sum adds. */
static int newest(const ambit__window *j, int stage)
{
  return j->values[j->stages[stage].value].lag + j->stages[stage].late;
}

/* A tap in another row. If that row belongs to an adjacent group it comes from the plane before,
 * unless all rows do. */
static void add_beside(const ambit__window *j, int stage, const ambit__tap *tap, bool begins)
{
  const ambit__window_stage *f = &j->stages[stage];
  const int dy = tap->offset[j->y];

  if (f->late) {
    add_tap(j, stage, tap, newest(j, stage), begins);
    return;
  }
  if (dy < 0)
    ambit__nest_if(j->n, "r >= %d", -dy);
  else
    ambit__nest_if(j->n, "r < %d", j->rows - dy);
  add_tap(j, stage, tap, newest(j, stage), begins);
  ambit__nest_otherwise(j->n);
  add_tap(j, stage, tap, j->values[f->value].lag + 1, false);
  ambit__nest_close(j->n);
}

static bool is_beside(const ambit__window *j, const ambit__tap *tap)
{
  return j->y >= 0 && tap->offset[j->y];
}

/* Taps in the own row first: one of them begins the result, in all rows. */
static void add_taps(const ambit__window *j, int stage, int dz)
{
  const ambit__window_stage *f = &j->stages[stage];
  bool begins = dz == f->low;

  for (int k = 0; k < f->ntaps; k++) {
    if (f->taps[k].offset[j->z] != dz || is_beside(j, &f->taps[k])) continue;
    add_tap(j, stage, &f->taps[k], newest(j, stage), begins);
    begins = false;
  }
  if (begins && j->y >= 0 && !f->late) {
    ambit__nest_do(j->n, "%s = 0", sum_of(j, stage, newest(j, stage) + dz));
    begins = false;
  }
  for (int k = 0; k < f->ntaps; k++) {
    if (f->taps[k].offset[j->z] != dz || !is_beside(j, &f->taps[k])) continue;
    add_beside(j, stage, &f->taps[k], begins);
    begins = false;
  }
}

/* ---- sums at faces: cells outside the region of the stage keep their values ---- */

bool ambit__window_freezes(const ambit__window *j, int stage)
{
  const ambit__window_stage *f = &j->stages[stage];

  return j->edge && f->taps && f->high >= 0 && j->flow->values[f->result].frozen == f->value;
}

/* One bit per cell of the plane with this lag: it is outside. */
static void let_frozen(const ambit__window *j, int stage, int lag)
{
  const int *inset = j->flow->stages[stage].inset[j->z];

  if (j->flow->periodic[j->z] || !(inset[0] || inset[1]))
    ambit__nest_do(j->n, "const unsigned frozen%d = out%d", lag, stage);
  else
    ambit__nest_do(j->n,
                   "const unsigned frozen%d = row - %d < first%d + %d || row - %d >= end%d - %d ? "
                   "0xffffffffu : out%d",
                   lag, lag, j->z, inset[0], lag, j->z, inset[1], stage);
}

/* The partial result of such a cell is its value from the turn on in which that arrives. */
static void freeze(const ambit__window *j, int stage, int lag)
{
  const char *frozen = ambit__nest_text(j->n, "frozen%d >> %s & 1", lag, ambit__window_bit(j));

  ambit__nest_do_if(j->n, frozen, "%s = %s", sum_of(j, stage, lag),
                    lag == newest(j, stage) ? ambit__window_own(j, j->stages[stage].value, lag)
                                            : ambit__nest_text(j->n, "old%d", lag));
}

/* The row that arrived completes one row of results, whose place the next new one takes. */
static void add_sum(const ambit__window *j, int stage)
{
  const ambit__window_stage *f = &j->stages[stage];
  const int first = newest(j, stage), end = ambit__window_freezes(j, stage) ? f->lag + 1 : first;
  const char *type = ambit__window_type(j, f->result);

  for (int lag = first; lag < end; lag++)
    let_frozen(j, stage, lag);
  ambit__window_open_cells(j);
  for (int lag = first + 1; lag < end; lag++)
    ambit__nest_do(j->n, "const %s old%d = %s", type, lag, ambit__window_partial(j, stage, lag));
  ambit__nest_do(j->n, "%s sum = %s", type, ambit__window_partial(j, stage, f->lag));
  for (int dz = f->high; dz >= f->low; dz--)
    add_taps(j, stage, dz);
  for (int lag = first; lag < end; lag++)
    freeze(j, stage, lag);
  ambit__nest_do(j->n, "%s = sum", ambit__window_own(j, f->result, f->lag));
  ambit__window_close_cells(j);
}

/* ---- the stage ---- */

void ambit__window_add_stage(const ambit__window *j, int stage)
{
  ambit__nest_named(j->n, "%s, iteration %d", rule_of(j, stage)->name,
                    j->flow->stages[stage].iteration);
  if (j->flow->stages[stage].points)
    ambit__window_add_points(j, stage);
  else
    (j->stages[stage].taps ? add_sum : add_window)(j, stage);
  ambit__nest_close(j->n);
}
