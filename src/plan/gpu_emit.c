/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_emit.c - pieces of kernels that all strategies for GPUs use. */
#include "plan/fitted.h"
#include "plan/gpu.h"

#include "flow/flow.h"
#include "nest/nest.h"

extern const char ambit__prelude_sums[]; /* embedded by the build */

/* ---- properties ---- */

ambit__gpucode_job ambit__gpucode_begin(const ambit__group *g, const ambit__target *t,
                                        const ambit__plan *p, ambit__writer *w)
{
  return (ambit__gpucode_job){.group = g,
                              .plan = p,
                              .dialect = t->dialect,
                              .rule = g->steps[0].rule,
                              .bind = g->steps[0].bind,
                              .integer = t->dialect->types[AMBIT_I64],
                              .w = w,
                              .t = &w->text};
}

bool ambit__gpucode_reduces(const ambit__group *g)
{
  const ambit__rule *rule = g->steps[0].rule;

  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_REDUCE) return true;
  return false;
}

double ambit__gpucode_cell_cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  (void)p;
  return ambit__price_of(g->steps[0].rule).bytes /
         (AMBIT__FIT_CELLS * ambit__target_machine(t)->copy);
}

const char *ambit__gpucode_type(const ambit__gpucode_job *j, int param)
{
  return j->dialect->types[j->rule->params[param].type];
}

/* ---- the head ---- */

/* Of the rule, or of all rules of a flow. */
static void emit_tables(const ambit__gpucode_job *j)
{
  const ambit__flow *flow = j->group->flow;

  const ambit__rule *rules[AMBIT__FLOW_STAGES];

  if (!flow) ambit__emit_tables(j->dialect, j->t, j->rule, NULL, 0);
  for (int i = 0; flow && i < flow->nstages; i++) {
    rules[i] = flow->stages[i].rule;
    ambit__emit_tables(j->dialect, j->t, rules[i], rules, i);
  }
}

static void emit_head(const ambit__gpucode_job *j)
{
  ambit__print(j->t, "/* Kernel %s, written by Ambit. Plan ", j->rule->name);
  j->plan->strategy->describe(j->plan, j->t);
  ambit__print(j->t, ". */\n");
  if (j->lanes) ambit__print(j->t, "%s", j->lanes);
  if (j->group->strict) ambit__print(j->t, "%s", j->dialect->strict);
  ambit__dialect_print(j->dialect, j->t);
  if (!j->group->for_people && ambit__has_exact_sums(j->group))
    ambit__print(j->t, "\n%s", ambit__prelude_sums);
  emit_tables(j);
  ambit__emit_folders(j->dialect, j->w, j->rule, j->group->strict);
}

/* A kernel: the start, the nest, the end of its blocks. */
static void emit_first(const ambit__gpucode_job *j, ambit__nest *body)
{
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];
  const int *threads = j->plan->threads;
  ambit__nest start, end;

  ambit__nest_begin(&start, j->group, j->dialect);
  ambit__nest_begin(&end, j->group, j->dialect);
  start.hoists = body->hoists;
  if (j->first) ambit__nest_do(&start, "%s", j->first);
  if (!body->ends_late) ambit__nest_let_ended(&start);
  ambit__nest_let_totals(&start, threads[0], threads[1]);
  ambit__nest_let_values(&start);
  ambit__nest_leave_totals(&end, threads[0], threads[1]);
  ambit__gpucode_open_kernel(j, "", threads, ambit__gpucode_slots(j->group, slots), slots);
  ambit__nest_print(&start, j->w);
  ambit__nest_print(body, j->w);
  ambit__nest_print(&end, j->w);
  ambit__close(j->w);
  ambit__nest_free(&start);
  ambit__nest_free(&end);
}

/* The kernel that folds the totals of blocks. */
static void emit_fold(const ambit__gpucode_job *j)
{
  const int threads[3] = {AMBIT__GPUCODE_FOLD, 1, 1};
  ambit__gpucode_slot slots[AMBIT__GPUCODE_FOLD_SLOTS];
  ambit__nest n;

  ambit__nest_begin(&n, j->group, j->dialect);
  ambit__nest_fold_totals(&n, AMBIT__GPUCODE_FOLD);
  ambit__gpucode_open_kernel(j, AMBIT__GPUCODE_FOLD_TAIL, threads,
                             ambit__gpucode_fold_slots(j->group, slots), slots);
  ambit__nest_print(&n, j->w);
  ambit__close(j->w);
  ambit__nest_free(&n);
}

void ambit__gpucode_emit_kernel(const ambit__gpucode_job *j, ambit__nest *n, const char *prelude)
{
  emit_head(j);
  if (*prelude) ambit__print(j->t, "\n%s", prelude);
  emit_first(j, n);
  if (ambit__gpucode_reduces(j->group)) emit_fold(j);
}
