/* SPDX-License-Identifier: BSD-3-Clause */
/* graph_read.c - from the statements of a rule to nodes and steps.
 *
 * The statements are executed: every variable has a node. Both sides of a condition start with the
 * same values, which are kept with the variables that they set, and these have a choice afterwards.
 * The time is in proportion to the rule.
 */
#include "kernel/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ambit__graph_node node;
typedef ambit__graph graph;
typedef ambit__graph_step step;

typedef struct reader {
  graph *g;
  step *inside;        /* the present condition; NULL: none */
  ambit__merge **last; /* the end of its list */
} reader;

void *ambit__graph_take(graph *g, size_t bytes)
{
  void *p = g->failed ? NULL : ambit__arena_new(g->errors, &g->arena, 1, bytes);

  g->failed = g->failed || !p;
  return p;
}

/* ---- variables ---- */

int ambit__graph_local(graph *g, ambit__local local)
{
  ambit__local *l =
      ambit__add(g->errors, &g->locals, (size_t)g->nlocals, &g->locals_cap, sizeof *l);
  ambit__variable *v =
      ambit__add(g->errors, &g->variables, (size_t)g->nvariables, &g->variables_cap, sizeof *v);

  g->failed = g->failed || !l || !v;
  if (g->failed) return 0;
  *l = local;
  *v = (ambit__variable){.local = g->nlocals};
  g->nvariables++;
  return g->nlocals++;
}

static int variable_of(const graph *g, const ambit__stmt *s)
{
  return s->kind == STMT_SET_OUT ? g->out_of[s->index] + s->component : g->nouts + s->index;
}

static void make_variables(graph *g)
{
  const ambit__rule *r = g->rule;

  for (int i = 0; i < r->nparams; i++) {
    g->out_of[i] = g->nouts;
    if (r->params[i].kind != PARAM_VALUE) g->nouts += r->params[i].components;
  }
  g->variables = ambit__new(g->errors, (size_t)g->nouts, sizeof *g->variables);
  g->failed = !g->variables;
  g->nvariables = g->nouts;
  g->variables_cap = (size_t)g->nouts;
  for (int i = 0; !g->failed && i < r->nparams; i++)
    for (int c = 0; r->params[i].kind != PARAM_VALUE && c < r->params[i].components; c++)
      g->variables[g->out_of[i] + c] = (ambit__variable){.param = i, .component = c, .local = -1};
  for (int i = 0; !g->failed && i < r->nlocals; i++)
    ambit__graph_local(g, r->locals[i]);
}

step *ambit__graph_add_step(graph *g, ambit__stmt from, node *value)
{
  step *s = ambit__graph_take(g, sizeof *s);
  ambit__stmt *copy = ambit__graph_take(g, sizeof *copy);
  ambit__variable *v;

  if (!copy) return NULL;
  *copy = from;
  *s = (step){.from = copy, .value = value};
  g->nsteps++;
  v = &g->variables[variable_of(g, copy)];
  s->same = v->steps;
  v->steps = s;
  return s;
}

step *ambit__graph_name(graph *g, const char *prefix, int number, bool is_shared,
                        ambit__place place, node *value)
{
  char name[32];
  const int n = snprintf(name, sizeof name, "%s%d", prefix, number);
  ambit__local local = {.name = ambit__arena_strndup(&g->arena, name, (size_t)n),
                        .type = value->e.type,
                        .is_shared = is_shared};
  const int index = ambit__graph_local(g, local);

  g->failed = g->failed || !local.name;
  if (g->failed) return NULL;
  return ambit__graph_add_step(g, (ambit__stmt){.kind = STMT_LOCAL, .place = place, .index = index},
                               value);
}

void ambit__graph_share(graph *g, node *value, ambit__place place)
{
  step *s = ambit__graph_name(g, "shared", g->nshared++, true, place, value);

  if (!s) return;
  if (!g->shared) g->shared = &g->first;
  s->next = *g->shared;
  *g->shared = s;
  g->shared = &s->next;
}

void ambit__graph_replace(step *list, node *(*to)(const void *user, const node *n),
                          const void *user)
{
  for (step *s = list; s; s = s->next) {
    s->value = to(user, s->value);
    for (ambit__merge *m = s->merges; m; m = m->next)
      m->value = to(user, m->value);
    ambit__graph_replace(s->body, to, user);
    ambit__graph_replace(s->other, to, user);
  }
}

node *ambit__graph_initial(graph *g, int variable)
{
  const ambit__variable *v = &g->variables[variable];
  const ambit__param *p = &g->rule->params[v->param];
  ambit__expr e = {.op = EXPR_OUT, .type = p->type, .index = v->param, .component = v->component};

  memcpy(e.offset, ambit__param_target(p, v->component), sizeof e.offset);
  return g->make(g, &e, NULL, NULL, NULL);
}

/* The value of a written component or a reduction at the end of the cell. */
static node *out_value(graph *g, int variable)
{
  node *n = g->variables[variable].value;

  return n ? n : ambit__graph_initial(g, variable);
}

static void set(reader *r, int variable, node *value)
{
  ambit__variable *v = &r->g->variables[variable];
  const bool is_first = r->inside && (!v->merge || v->merge->of != r->inside);
  ambit__merge *m = is_first ? ambit__graph_take(r->g, sizeof *m) : NULL;

  if (m) {
    *m = (ambit__merge){.variable = variable,
                        .before = v->value,
                        .then = v->value,
                        .outer = v->merge,
                        .of = r->inside};
    *r->last = v->merge = m;
    r->last = &m->next;
  }
  v->value = value;
}

/* ---- statements ---- */

static node *read_expr(reader *r, const ambit__expr *e)
{
  graph *g = r->g;
  node *a, *b, *c;

  if (g->failed) return &g->nothing;
  if (e->op == EXPR_LOCAL && g->variables[g->nouts + e->index].value)
    return g->variables[g->nouts + e->index].value;
  if (e->op == EXPR_LOCAL) return ambit__node_number(g, e->type, ambit__value_of(0, e->type));
  if (e->op == EXPR_OUT) return out_value(g, g->out_of[e->index] + e->component);
  a = e->a ? read_expr(r, e->a) : NULL;
  b = e->b ? read_expr(r, e->b) : NULL;
  c = e->c ? read_expr(r, e->c) : NULL;
  return g->failed ? &g->nothing : g->make(g, e, a, b, c);
}

/* The choice that a variable has after a condition whose sides give it these values. */
static void merge(reader *r, step *s, ambit__merge *m, node *other)
{
  graph *g = r->g;
  node *then = m->then;
  ambit__expr e = {.op = EXPR_COND, .place = s->from->place};

  if (m->variable < g->nouts && !then) then = ambit__graph_initial(g, m->variable);
  if (m->variable < g->nouts && !other) other = ambit__graph_initial(g, m->variable);
  if (!then || !other) return; /* a local of one side */
  e.type = then->e.type;
  m->value = then == other ? then : g->make(g, &e, s->value, then, other);
  set(r, m->variable, m->value);
  m->next = s->merges;
  s->merges = m;
}

static step **read_list(reader *r, const ambit__stmt *list, step *outer, step **end);

static void read_condition(reader *r, const ambit__stmt *st, step *s)
{
  const reader around = *r;
  ambit__variable *v = r->g->variables;
  ambit__merge *list = NULL, *next;

  r->inside = s;
  r->last = &list;
  read_list(r, st->body, s, &s->body);
  for (ambit__merge *m = list; m; m = m->next) {
    m->then = v[m->variable].value;
    v[m->variable].value = m->before;
  }
  read_list(r, st->other, s, &s->other);
  *r = around;
  for (ambit__merge *m = list; m && !r->g->failed; m = next) {
    node *other = v[m->variable].value;

    next = m->next;
    v[m->variable].value = m->before;
    v[m->variable].merge = m->outer;
    merge(r, s, m, other);
  }
}

static void read_set(reader *r, const ambit__stmt *st, step *s)
{
  const int variable = variable_of(r->g, st);
  ambit__variable *v = &r->g->variables[variable];

  s->same = v->steps;
  v->steps = s;
  if (s->value) set(r, variable, s->value);
}

/* Appends steps at `end`, and returns the new end. A condition that is known has one side. */
static step **read_list(reader *r, const ambit__stmt *list, step *outer, step **end)
{
  for (const ambit__stmt *st = list; st && !r->g->failed; st = st->next) {
    node *value = st->value ? read_expr(r, st->value) : NULL;
    step *s;

    if (st->kind == STMT_IF && ambit__node_is_number(value) && !r->g->failed) {
      r->g->changed = true;
      end = read_list(r, value->e.value.integer ? st->body : st->other, outer, end);
      continue;
    }
    s = ambit__graph_take(r->g, sizeof *s);
    if (!s) break;
    *s = (step){.from = st, .value = value, .outer = outer};
    r->g->nsteps++;
    if (st->kind == STMT_IF)
      read_condition(r, st, s);
    else
      read_set(r, st, s);
    *end = s;
    end = &s->next;
  }
  return end;
}

void ambit__graph_read(graph *g)
{
  reader r = {.g = g};

  make_variables(g);
  if (!g->failed) read_list(&r, g->rule->body, NULL, &g->first);
}

void ambit__graph_free(graph *g)
{
  free(g->nodes);
  ambit__index_free(&g->index);
  free(g->variables);
  free(g->locals);
  ambit__arena_free(&g->arena);
}
