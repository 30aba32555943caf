/* SPDX-License-Identifier: BSD-3-Clause */
/* once.c - a kernel on scalars only. It runs once, on the device that holds the scalars; on a GPU,
 * in one thread. */
#include "plan/gpu.h"

static bool applies(const ambit__group *g, const ambit__target *t)
{
  (void)t;
  return g->ndims == 0 && g->nsteps == 1 && g->depth == 1;
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  (void)g;
  (void)t;
  if (most < 1) return 0;
  plans[0] = (ambit__plan){.strategy = &ambit__strategy_once, .depth = 1, .threads = {1, 1, 1}};
  return 1;
}

static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  (void)g;
  (void)t;
  (void)p;
  return 0;
}

/* ---- GPU: k_mem points to the scalars ---- */

static void read_memory(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  ambit__print(t, "*%s_mem", s->rule->params[e->index].name);
}

static void emit_variables(const ambit__gpucode_job *j)
{
  for (int i = 0; i < j->rule->nparams; i++) {
    const ambit__param *p = &j->rule->params[i];
    const char *type = ambit__gpucode_type(j, i);

    if (p->kind == PARAM_VALUE)
      ambit__line(j->w, "const %s %s_v = *%s_mem;", type, p->name, p->name);
    if (p->is_written && p->keeps[0])
      ambit__line(j->w, "%s %s_out = *%s_mem;", type, p->name, p->name);
    else if (p->is_written)
      ambit__line(j->w, "%s %s_out;", type, p->name);
  }
}

static void emit_gpu(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                     ambit__writer *w)
{
  const ambit__gpucode_job j = ambit__gpucode_begin(g, t, p, w);
  ambit__scope scope = ambit__gpucode_scope(&j);
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];

  scope.read = read_memory;
  ambit__gpucode_emit_head(&j);
  ambit__gpucode_open_kernel(&j, "", p->threads, ambit__gpucode_slots(g, slots), slots);
  ambit__gpucode_emit_ended(&j);
  emit_variables(&j);
  ambit__emit_stmts(&scope, w, j.rule->body);
  for (int i = 0; i < j.rule->nparams; i++)
    if (j.rule->params[i].is_written)
      ambit__line(w, "*%s_mem = %s_out;", j.rule->params[i].name, j.rule->params[i].name);
  ambit__close(w);
}

static void shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                  ambit__shape *shape)
{
  (void)g;
  (void)p;
  (void)box;
  *shape = (ambit__shape){.blocks = {1, 1, 1}, .threads = {1, 1, 1}};
}

/* ---- C: call->origin[] points to the scalars ---- */

/* A pointer parameter is bound to a scalar here, so origin[] points to its value. */
static void read(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  ambit__print(t, "*%s_at", s->rule->params[e->index].name);
}

static void emit_parameters(const ambit__rule *rule, const ambit__scope *s, ambit__writer *w)
{
  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *p = &rule->params[i];
    const char *type = s->dialect->types[p->type];

    if (p->kind == PARAM_VALUE)
      ambit__line(w, "const %s %s_v = *(const %s *)call->origin[%d];", type, p->name, type, i);
    else
      ambit__line(w, "%s *%s_at = call->origin[%d];", type, p->name, i);
    if (p->is_written)
      ambit__line(w, "%s %s_out%s%s_at;", type, p->name, p->keeps[0] ? " = *" : "; (void)",
                  p->name);
  }
}

static void emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                 ambit__writer *w)
{
  const ambit__rule *rule = g->steps[0].rule;
  const ambit__scope scope = {
      .rule = rule, .dialect = &ambit__dialect_c, .read = read, .step = "call->step"};

  if (t->kind == TARGET_GPU) {
    emit_gpu(g, t, p, w);
    return;
  }
  ambit__emit_head(g, p, w);
  ambit__line(w, "void %s(const ambit_call *call)", ambit__entry_name(g));
  ambit__line(w, "{");
  w->depth++;
  emit_parameters(rule, &scope, w);
  ambit__emit_stmts(&scope, w, rule->body);
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].is_written)
      ambit__line(w, "*%s_at = %s_out;", rule->params[i].name, rule->params[i].name);
  ambit__close(w);
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  (void)p;
  ambit__print(t, "(once)");
}

const ambit__strategy ambit__strategy_once = {
    .name = "once",
    .applies = applies,
    .candidates = candidates,
    .cost = cost,
    .emit = emit,
    .describe = describe,
    .shape = shape,
};
