/* SPDX-License-Identifier: BSD-3-Clause */
/* graph_read.c - from the statements of a rule to nodes and steps.
 *
 * The statements are executed: every variable has a node. Both sides of a condition start with the
 * same values, which a journal brings back, and a variable that they set has a choice afterwards.
 * The time is in proportion to the rule.
 */
#include "kernel/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ambit__graph_node node;
typedef ambit__graph graph;
typedef ambit__graph_step step;

/* A variable that has got another value. */
typedef struct change {
  int variable;
  node *before, *after; /* `after`: at the end of a side of a condition */
} change;

typedef struct journal {
  change *list; /* owned */
  size_t n, cap;
} journal;

typedef struct reader {
  graph *g;
  journal all;   /* changes inside the present conditions */
  journal sides; /* those at the end of their first sides */
  int stamp;
} reader;

void *ambit__graph_take(graph *g, size_t bytes)
{
  void *p = g->failed ? NULL : ambit__arena_alloc(&g->arena, bytes);

  if (!p && !g->failed)
    ambit__raise(g->errors, AMBIT_ENOMEM, "no memory to analyse kernel %s", g->rule->name);
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

void ambit__graph_share(graph *g, node *value, ambit__place place)
{
  char name[32];
  const int n = snprintf(name, sizeof name, "shared%d", g->nshared++);
  const char *text = ambit__arena_strndup(&g->arena, name, (size_t)n);
  const int local =
      ambit__graph_local(g, (ambit__local){.name = text, .type = value->e.type, .is_shared = true});
  step *s = NULL;

  g->failed = g->failed || !text;
  if (!g->failed)
    s = ambit__graph_add_step(g, (ambit__stmt){.kind = STMT_LOCAL, .place = place, .index = local},
                              value);
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

/* ---- changes ---- */

static void note(reader *r, journal *j, change c)
{
  if (ambit__make_room(r->g->errors, &j->list, j->n, &j->cap, sizeof *j->list))
    r->g->failed = true;
  else
    j->list[j->n++] = c;
}

static void set(reader *r, int variable, node *value)
{
  note(r, &r->all, (change){.variable = variable, .before = r->g->variables[variable].value});
  r->g->variables[variable].value = value;
}

static void take_back(reader *r, size_t mark)
{
  while (r->all.n > mark) {
    const change *c = &r->all.list[--r->all.n];

    r->g->variables[c->variable].value = c->before;
  }
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

/* What a variable has after a condition whose sides give it these values. */
static void merge(reader *r, step *s, int variable, node *then, node *other)
{
  graph *g = r->g;
  ambit__merge *m;
  ambit__expr e = {.op = EXPR_COND, .place = s->from->place};

  if (variable < g->nouts && !then) then = ambit__graph_initial(g, variable);
  if (variable < g->nouts && !other) other = ambit__graph_initial(g, variable);
  if (!then || !other) return; /* a local of one side */
  e.type = then->e.type;
  set(r, variable, then == other ? then : g->make(g, &e, s->value, then, other));
  m = ambit__graph_take(g, sizeof *m);
  if (!m) return;
  *m = (ambit__merge){variable, g->variables[variable].value, s->merges};
  s->merges = m;
}

static step **read_list(reader *r, const ambit__stmt *list, step *outer, step **end);

/* The first change of each variable counts: it has the value before the condition. */
static void merge_all(reader *r, step *s, size_t mark, size_t sides)
{
  ambit__variable *v = r->g->variables;
  const int stamp = ++r->stamp;
  const size_t first = r->sides.n;

  for (size_t i = sides; i < first; i++) {
    const change c = r->sides.list[i];

    if (v[c.variable].stamp == stamp) continue;
    v[c.variable].stamp = stamp;
    note(r, &r->sides, (change){c.variable, c.after, v[c.variable].value});
  }
  for (size_t i = mark; i < r->all.n; i++) {
    const change c = r->all.list[i];

    if (v[c.variable].stamp == stamp) continue;
    v[c.variable].stamp = stamp;
    note(r, &r->sides, (change){c.variable, c.before, v[c.variable].value});
  }
  take_back(r, mark);
  for (size_t i = first; i < r->sides.n && !r->g->failed; i++)
    merge(r, s, r->sides.list[i].variable, r->sides.list[i].before, r->sides.list[i].after);
  r->sides.n = sides;
}

static void read_condition(reader *r, const ambit__stmt *st, step *s)
{
  const size_t mark = r->all.n, sides = r->sides.n;

  read_list(r, st->body, s, &s->body);
  for (size_t i = mark; i < r->all.n; i++) {
    change c = r->all.list[i];

    c.after = r->g->variables[c.variable].value;
    note(r, &r->sides, c);
  }
  take_back(r, mark);
  read_list(r, st->other, s, &s->other);
  if (!r->g->failed) merge_all(r, s, mark, sides);
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
  free(r.all.list);
  free(r.sides.list);
}

void ambit__graph_free(graph *g)
{
  free(g->nodes);
  ambit__index_free(&g->index);
  free(g->variables);
  free(g->locals);
  ambit__arena_free(&g->arena);
}
