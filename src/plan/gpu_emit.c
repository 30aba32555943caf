/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_emit.c - pieces of kernels that all strategies for GPUs use. */
#include "plan/fitted.h"
#include "plan/gpu.h"
#include "plan/launch_line.h"

#include "codegen/flat.h"
#include "flow/flow.h"
#include "nest/nest.h"

#include <math.h>

extern const char ambit__prelude_sums[], ambit__prelude_places[]; /* embedded by the build */

/* ---- properties ---- */

int ambit__gpucode_threads(const ambit__target *t, int most)
{
  while (t->max_threads > 0 && most > t->max_threads)
    most /= 2;
  return most;
}

double ambit__gpucode_cell_cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  const ambit__machine *m = ambit__target_machine(t);
  const ambit__price price = ambit__price_bound(g->rule, g->bind, g->ndims);
  const double memory = price.bytes / (AMBIT__FIT_CELLS * m->copy);
  const double work =
      AMBIT__FIT_WORKS * ambit__price_work(&price, m, 1) + AMBIT__FIT_THREAD / m->fma32;
  const double ns = fmax(memory, work) + AMBIT__FIT_BESIDE * fmin(memory, work);

  (void)p;
  if (g->ndims <= 3) return ns;
  return fmax(ns, AMBIT__FIT_LOADS * ambit__rule_reads(g->rule) / m->fma32);
}

void ambit__gpucode_shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                          ambit__shape *shape)
{
  ambit__launch_line r;

  p->strategy->launch_line(g, p, &r);
  ambit__launch_line_shape(&r, box, shape);
}

/* ---- the head ---- */

/* The rule, or all rules of a flow; returns their number. */
static int find_rules(const ambit__nest *n, const ambit__rule **rules)
{
  const ambit__flow *flow = n->group->flow;

  rules[0] = n->rule;
  for (int i = 0; flow && i < flow->nstages; i++)
    rules[i] = flow->stages[i].rule;
  return flow ? flow->nstages : 1;
}

static void emit_head(const ambit__nest *n, const ambit__plan *p, ambit__writer *w)
{
  const ambit__rule *rules[AMBIT__FLOW_STAGES];
  const int nrules = find_rules(n, rules);
  ambit__text *t = &w->text;
  bool angles = false;

  ambit__print(t, "/* Kernel %s, written by Ambit. Plan ", n->rule->name);
  p->strategy->describe(p, t);
  ambit__print(t, ". */\n");
  if (n->group->strict) ambit__print(t, "%s", n->dialect->strict);
  ambit__dialect_print(n->dialect, t);
  for (int i = 0; i < nrules; i++)
    angles = angles || ambit__rule_calls_angles(rules[i]);
  if (!n->group->strict && n->dialect->angles && angles)
    ambit__print(t, "\n%s", n->dialect->angles);
  if (!n->group->for_people && ambit__group_sums_exactly(n->group))
    ambit__print(t, "\n%s", ambit__prelude_sums);
  for (int i = 0; i < nrules; i++)
    ambit__emit_tables(n->dialect, t, rules[i], rules, i);
  ambit__emit_folders(n->dialect, w, n->rule, n->group->strict);
}

void ambit__emit_strips(ambit__nest *n)
{
  ambit__print(&n->prelude, "%s\n%s", ambit__prelude_places, n->dialect->strips);
}

/* A kernel: the start, the nest, the end of its blocks. */
static void emit_first(ambit__nest *body, const ambit__plan *p, ambit__writer *w)
{
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];
  const int *threads = p->threads, n = ambit__gpucode_slots(body->group, slots);
  ambit__nest start, end;

  ambit__nest_begin(&start, body->group, body->dialect);
  ambit__nest_begin(&end, body->group, body->dialect);
  start.hoists = body->hoists;
  if (body->opening) ambit__nest_do(&start, "%s", body->opening);
  if (!body->ends_late) ambit__nest_let_ended(&start);
  ambit__nest_let_totals(&start, threads[0], threads[1]);
  ambit__nest_let_values(&start);
  ambit__nest_leave_totals(&end, threads[0], threads[1]);
  ambit__gpucode_open_kernel(body, p, "", threads, n, slots, w);
  ambit__nest_print(&start, w);
  ambit__nest_print(body, w);
  ambit__nest_print(&end, w);
  ambit__close(w);
  ambit__nest_free(&start);
  ambit__nest_free(&end);
}

/* The kernel that folds the totals of blocks. */
static void emit_fold(const ambit__nest *body, const ambit__plan *p, ambit__writer *w)
{
  const int threads[3] = {AMBIT__GPUCODE_FOLD, 1, 1};
  ambit__gpucode_slot slots[AMBIT__GPUCODE_FOLD_SLOTS];
  const int nslots = ambit__gpucode_fold_slots(body->group, slots);
  ambit__nest n;

  ambit__nest_begin(&n, body->group, body->dialect);
  ambit__nest_fold_totals(&n, AMBIT__GPUCODE_FOLD);
  ambit__gpucode_open_kernel(body, p, AMBIT__GPUCODE_FOLD_TAIL, threads, nslots, slots, w);
  ambit__nest_print(&n, w);
  ambit__close(w);
  ambit__nest_free(&n);
}

void ambit__emit_kernel(ambit__nest *n, const ambit__plan *p, ambit__writer *w)
{
  emit_head(n, p, w);
  if (n->prelude.chars) ambit__print(&w->text, "\n%s", n->prelude.chars);
  emit_first(n, p, w);
  if (ambit__group_reduces(n->group)) emit_fold(n, p, w);
}
