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

bool ambit__gpucode_is_field(const ambit__gpucode_job *j, int param)
{
  return j->rule->params[param].kind == PARAM_FIELD && j->bind[param].is_field;
}

bool ambit__gpucode_is_reduction(const ambit__gpucode_job *j, int param)
{
  return j->rule->params[param].kind == PARAM_REDUCE;
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

static const char *name_of(const ambit__gpucode_job *j, int param)
{
  return j->rule->params[param].name;
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

/* "const float k_v = *k_mem;" for every value. */
static void emit_values(const ambit__gpucode_job *j)
{
  for (int i = 0; i < j->rule->nparams; i++)
    if (!ambit__gpucode_is_reduction(j, i) && !ambit__gpucode_is_field(j, i))
      ambit__line(j->w, "const %s %s_v = *%s_mem;", ambit__gpucode_type(j, i), name_of(j, i),
                  name_of(j, i));
}

/* The end of a block that reduces. */
static void emit_end(const ambit__gpucode_job *j)
{
  const ambit__dialect *d = j->dialect;
  const int *n = j->plan->threads;

  if (!ambit__gpucode_reduces(j->group)) return;
  ambit__line(j->w, "const int t = %s * %d + %s;", d->thread[1], n[0], d->thread[0]);
  ambit__line(j->w, "const %s b = (%s * %s + %s) * %s + %s;", j->integer, d->block[2], d->blocks[1],
              d->block[1], d->blocks[0], d->block[0]);
  ambit__gpucode_leave_totals(j, n[0] * n[1], "t", "b");
}

void ambit__gpucode_emit_kernel(const ambit__gpucode_job *j, ambit__nest *n, const char *prelude)
{
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];
  const int *threads = j->plan->threads;

  emit_head(j);
  if (*prelude) ambit__print(j->t, "\n%s", prelude);
  ambit__gpucode_open_kernel(j, "", threads, ambit__gpucode_slots(j->group, slots), slots);
  if (j->first) ambit__line(j->w, "%s;", j->first);
  if (!n->ends_late) ambit__gpucode_emit_ended(j);
  ambit__gpucode_declare_totals(j, threads[0] * threads[1]);
  emit_values(j);
  ambit__nest_print_shared(n, j->w);
  ambit__nest_print(n, j->w);
  emit_end(j);
  ambit__close(j->w);
  ambit__gpucode_emit_fold(j);
}
