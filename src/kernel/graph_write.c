/* SPDX-License-Identifier: BSD-3-Clause */
/* graph_write.c - from nodes and steps to the statements of a rule.
 *
 * Steps are written in their order, if their values are still used. A local that conditions set is
 * one variable with all its steps; every other step declares a local of its own. While statements
 * are written it is known which variable has which node (`holder`): an operand is the name of its
 * holder, or if no variable has it here, an expression. So nothing is ever computed outside a
 * condition that was under it before, unless it was computed there too.
 */
#include "base/hash.h"
#include "base/index.h"
#include "kernel/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ambit__graph_node node;
typedef ambit__graph graph;
typedef ambit__graph_step step;

/* Expressions of all statements, and those inside each other. */
enum { MOST_EXPRS = 4000 * 1000, MOST_DEPTH = 12000 };

/* A variable that has got another value. */
typedef struct change {
  int variable;
  node *before, *after;
  int holders[2]; /* of them before */
} change;

typedef struct writer {
  graph *g;
  ambit__rule *to;
  const ambit__stmt **tail; /* of the present list */
  node **holds;             /* by variable: its value here; NULL: none yet */
  bool *lasts;              /* by variable: a local that keeps its value */
  int *declared;            /* by local of the graph: in the new rule, and 1; 0: not yet */
  int *versions;            /* by local of the graph: the next number for a name */
  ambit__index names;       /* hashes of names that are taken */
  change *changes;
  size_t nchanges, cap;
  int exprs; /* so far */
  int depth;
  bool is_shared; /* the present value is that of all cells: its flops do not count */
} writer;

ambit__rule *ambit__rule_like(ambit__errors *errors, const ambit__rule *rule)
{
  ambit__rule *to = ambit__new(errors, 1, sizeof *to);

  if (!to) return NULL;
  *to = *rule;
  to->arena = (ambit__arena){0};
  to->written = rule;
  return to;
}

/* ---- uses ---- */

/* Numbers, parameters and places are always written as such. */
static bool is_plain(const node *n)
{
  if (n->e.op == EXPR_READ) return n->is_bare;
  return n->e.op < EXPR_TABLE && n->e.op != EXPR_OUT;
}

/* Nodes that are still to be looked at. */
typedef struct stack {
  node **list; /* as many as there are nodes; owned */
  int n;
} stack;

static void need(stack *k, node *n)
{
  if (!n || n->is_used) return;
  n->is_used = true;
  k->list[k->n++] = n;
}

static void need_step(stack *k, step *s)
{
  for (; s && !s->is_live; s = s->outer) {
    s->is_live = true;
    need(k, s->value);
    if (s->value) s->value->uses++;
    if (s->value) s->value->is_result = true;
  }
}

/* Names the values of steps; needs the results. */
static void begin(graph *g, stack *k, step *s)
{
  for (; s; s = s->next) {
    const ambit__stmt *from = s->from;

    s->is_live = false;
    if (from->kind == STMT_IF) {
      begin(g, k, s->body);
      begin(g, k, s->other);
      for (const ambit__merge *m = s->merges; m; m = m->next) {
        if (m->value && m->value->name < 0) m->value->name = m->variable;
        g->variables[m->variable].is_merged |= m->value && m->value->e.op == EXPR_COND;
      }
    } else if (s->value && s->value->name < 0) {
      s->value->name = from->kind == STMT_SET_OUT ? g->out_of[from->index] + from->component
                                                  : g->nouts + from->index;
    }
    if (from->kind == STMT_SET_OUT) need_step(k, s);
  }
}

/* A choice that conditions make needs all steps of the variable. */
static void need_variable(graph *g, stack *k, const node *n)
{
  ambit__variable *v = n->e.op == EXPR_COND && n->name >= g->nouts ? &g->variables[n->name] : NULL;

  if (!v || v->is_mutable || !v->is_merged) return;
  v->is_mutable = true;
  for (step *s = v->steps; s; s = s->same) {
    need_step(k, s);
    if (s->value) s->value->is_fixed = true;
  }
}

static void use(node *n, int times)
{
  if (n) n->uses += times;
}

/* How often its operands are written where it is: once if it has a name. */
static int times_of(const node *n)
{
  if (!n->is_used) return 0;
  return (n->name < 0 || is_plain(n)) && n->uses > 1 ? 2 : 1;
}

void ambit__graph_use(graph *g)
{
  stack k = {.list = ambit__new(g->errors, (size_t)g->count, sizeof *k.list)};

  g->failed = g->failed || !k.list;
  if (!k.list) return;
  for (int i = 0; i < g->count; i++) {
    node *n = g->nodes[i];

    n->name = -1;
    n->uses = 0;
    n->is_used = n->is_result = n->is_fixed = false;
  }
  for (int i = 0; i < g->nvariables; i++)
    g->variables[i].is_mutable = g->variables[i].is_merged = false;
  begin(g, &k, g->first);
  while (k.n) {
    node *n = k.list[--k.n];

    need_variable(g, &k, n);
    need(&k, ambit__node_a(n));
    need(&k, ambit__node_b(n));
    need(&k, ambit__node_c(n));
    for (int i = 0; i < n->nterms; i++)
      need(&k, n->terms[i].value);
  }
  for (int i = g->count - 1; i >= 0; i--) {
    node *n = g->nodes[i];
    const int times = times_of(n);

    use(ambit__node_a(n), times);
    use(ambit__node_b(n), times);
    use(ambit__node_c(n), times);
  }
  free(k.list);
}

/* ---- variables and the values they have ---- */

static void *take(writer *w, size_t bytes)
{
  void *p = w->g->failed ? NULL : ambit__arena_new(w->g->errors, &w->to->arena, 1, bytes);

  w->g->failed = w->g->failed || !p;
  return p;
}

static void hold(writer *w, int variable, node *n)
{
  node *before = w->holds[variable];

  if (ambit__make_room(w->g->errors, &w->changes, w->nchanges, &w->cap, sizeof *w->changes)) {
    w->g->failed = true;
    return;
  }
  w->changes[w->nchanges++] =
      (change){variable, before, n, {before ? before->holder : -1, n ? n->holder : -1}};
  if (before && before->holder == variable) before->holder = -1;
  w->holds[variable] = n;
  if (!n || is_plain(n) || (n->e.op == EXPR_READ && variable < w->g->nouts)) return;
  if (n->holder < 0 || (w->lasts[variable] && !w->lasts[n->holder])) n->holder = variable;
}

static void take_back(writer *w, size_t mark)
{
  while (w->nchanges > mark) {
    const change *c = &w->changes[--w->nchanges];

    if (c->after) c->after->holder = c->holders[1];
    if (c->before) c->before->holder = c->holders[0];
    w->holds[c->variable] = c->before;
  }
}

/* ---- names ---- */

/* false: it is taken, or another one with its hash. */
static bool take_name(writer *w, const char *name)
{
  ambit__hash h;
  size_t at = 0;

  ambit__hash_init(&h);
  ambit__hash_text(&h, name);
  if (ambit__index_next(&w->names, h.w[0], &at) >= 0) return false;
  if (ambit__index_add(w->g->errors, &w->names, h.w[0], 0) != AMBIT_OK) w->g->failed = true;
  return true;
}

static void take_names(writer *w)
{
  const ambit__rule *r = w->g->rule;

  for (int i = 0; i < r->nlocals; i++)
    take_name(w, r->locals[i].name);
  for (int i = 0; i < r->nparams; i++)
    take_name(w, r->params[i].name);
  for (int i = 0; i < r->ntables; i++)
    take_name(w, r->tables[i].name);
}

/* The given name, or if *number is not 0 or it is taken, with the first free number from there. */
static const char *unused_name(writer *w, const char *name, int *number)
{
  char text[280];

  do {
    snprintf(text, sizeof text, *number ? "%.240s_%d" : "%.240s", name, *number);
    ++*number;
  } while (!take_name(w, text));
  name = ambit__arena_strndup(&w->to->arena, text, strlen(text));
  w->g->failed = w->g->failed || !name;
  return name;
}

/* A new local for the next value of a local: a name of its own, or a version of it. */
static int version_of(writer *w, int local)
{
  const ambit__local *from = &w->g->locals[local];
  const bool first = !w->declared[local], is_new = local >= w->g->rule->nlocals;
  int *number = &w->versions[local];

  if (!first && !*number) *number = 1;
  w->to->locals[w->to->nlocals] =
      (ambit__local){.name = first && !is_new ? from->name : unused_name(w, from->name, number),
                     .type = from->type,
                     .is_shared = from->is_shared};
  w->declared[local] = w->to->nlocals + 1;
  return w->to->nlocals++;
}

/* ---- expressions ---- */

static const ambit__expr *write_expr(writer *w, node *n);

/* A new expression, which the caller completes. */
static ambit__expr *add_expr(writer *w, const ambit__expr *like)
{
  ambit__expr *e = take(w, sizeof *e);

  w->g->failed = w->g->failed || ++w->exprs > MOST_EXPRS;
  if (!e) return NULL;
  *e = *like;
  if (!w->is_shared) w->to->flops += ambit__expr_flops(e);
  return e;
}

static const ambit__expr *binary(writer *w, ambit__op op, const ambit__expr *a,
                                 const ambit__expr *b)
{
  if (!a) return b;
  return add_expr(w, &(ambit__expr){.op = op, .type = AMBIT_I32, .a = a, .b = b});
}

static const ambit__expr *number(writer *w, int64_t n)
{
  return add_expr(w, &(ambit__expr){.op = EXPR_CONST, .type = AMBIT_I32, .value.integer = n});
}

static bool has_sign(const ambit__node_term *t, int64_t size, int sign)
{
  return t->weight == sign * size;
}

/* The terms of a sum whose weights are `size` or its negative, added to `to`: to + size * (a + b -
 * c). `to` may be NULL, if a weight is positive. */
static const ambit__expr *write_terms(writer *w, const node *n, int64_t size, const ambit__expr *to)
{
  const ambit__expr *inner = size == 1 ? to : NULL;
  bool negative = true; /* all of them */

  for (int i = 0; i < n->nterms; i++)
    if (has_sign(&n->terms[i], size, 1)) {
      inner = binary(w, EXPR_ADD, inner, write_expr(w, n->terms[i].value));
      negative = false;
    }
  for (int i = 0; i < n->nterms; i++)
    if (has_sign(&n->terms[i], size, -1))
      inner = binary(w, negative && size > 1 ? EXPR_ADD : EXPR_SUB, inner,
                     write_expr(w, n->terms[i].value));
  if (size == 1) return inner;
  return binary(w, negative ? EXPR_SUB : EXPR_ADD, to, binary(w, EXPR_MUL, number(w, size), inner));
}

/* The next size of weights, of those with a positive one or of the others; 0: no more. */
static int64_t next_size(const node *n, int64_t last, bool positive)
{
  int64_t next = 0;

  for (int i = 0; i < n->nterms; i++) {
    const int64_t size = llabs((int64_t)n->terms[i].weight);
    bool any = false;

    if (size <= last || (next && size >= next)) continue;
    for (int k = 0; k < n->nterms; k++)
      any = any || n->terms[k].weight == size;
    if (any == positive) next = size;
  }
  return next;
}

static const ambit__expr *write_sum(writer *w, const node *n)
{
  const ambit__expr *sum = NULL;
  bool constant = n->constant != 0;

  for (int64_t size = 0; (size = next_size(n, size, true)) != 0;)
    sum = write_terms(w, n, size, sum);
  if (!sum) {
    sum = number(w, n->constant);
    constant = false;
  }
  for (int64_t size = 0; (size = next_size(n, size, false)) != 0;)
    sum = write_terms(w, n, size, sum);
  if (!constant) return sum;
  if (n->constant == INT32_MIN || n->constant > 0)
    return binary(w, EXPR_ADD, sum, number(w, n->constant));
  return binary(w, EXPR_SUB, sum, number(w, -(int64_t)n->constant));
}

/* The first value of a component or a reduction: after it was set, as the old value of the field or
 * as the identity. */
static const ambit__expr *write_initial(writer *w, const node *n)
{
  const ambit__param *p = &w->g->rule->params[n->e.index];
  ambit__expr *e = add_expr(w, &n->e);

  if (!e || !w->holds[w->g->out_of[e->index] + e->component]) return e;
  e->op = p->kind == PARAM_FIELD ? EXPR_READ : EXPR_CONST;
  if (p->kind != PARAM_FIELD) e->value = ambit__reduce_identity(p);
  return e;
}

/* The expression of a node, whatever holds it. */
static const ambit__expr *write_value(writer *w, node *n)
{
  ambit__expr *e;

  if (n->nterms) return write_sum(w, n);
  if (n->e.op == EXPR_OUT) return write_initial(w, n);
  w->g->failed = w->g->failed || ++w->depth > MOST_DEPTH;
  e = add_expr(w, &n->e);
  if (!e) return NULL;
  if (e->a) /* the comparison of two is written with the smaller or larger one */
    e->a = ambit__expr_is_extreme(&n->e) ? write_value(w, ambit__node_a(n))
                                         : write_expr(w, ambit__node_a(n));
  if (e->b) e->b = write_expr(w, ambit__node_b(n));
  if (e->c) e->c = write_expr(w, ambit__node_c(n));
  w->depth--;
  return e;
}

/* The variable that has a value. */
static const ambit__expr *write_variable(writer *w, const node *n)
{
  ambit__expr *e = add_expr(w, &(ambit__expr){.op = EXPR_LOCAL, .type = n->e.type});
  const ambit__variable *v;

  if (!e) return NULL;
  e->place = n->e.place;
  e->index = n->holder - w->g->nouts;
  if (n->holder >= w->g->nouts) return e;
  v = &w->g->variables[n->holder];
  e->op = EXPR_OUT;
  e->index = v->param;
  e->component = v->component;
  memcpy(e->offset, ambit__param_target(&w->g->rule->params[v->param], v->component),
         sizeof e->offset);
  return e;
}

static const ambit__expr *write_expr(writer *w, node *n)
{
  return n->holder < 0 ? write_value(w, n) : write_variable(w, n);
}

/* ---- statements ---- */

static ambit__stmt *add_stmt(writer *w, const step *s)
{
  ambit__stmt *to = take(w, sizeof *to);

  if (!to) return NULL;
  *to = *s->from;
  to->body = to->other = to->next = NULL;
  to->value = s->value ? write_expr(w, s->value) : NULL;
  *w->tail = to;
  w->tail = &to->next;
  return to;
}

static void write_list(writer *w, const step *list);

static void write_if(writer *w, const step *s)
{
  ambit__stmt *to = add_stmt(w, s);
  const ambit__stmt **tail = w->tail;
  const size_t mark = w->nchanges;

  if (!to) return;
  w->tail = &to->body;
  write_list(w, s->body);
  take_back(w, mark);
  w->tail = &to->other;
  write_list(w, s->other);
  take_back(w, mark);
  w->tail = tail;
  for (const ambit__merge *m = s->merges; m; m = m->next)
    if (m->variable < w->g->nouts)
      hold(w, m->variable, m->value ? m->value : &w->g->nothing);
    else if (w->g->variables[m->variable].is_mutable)
      hold(w, w->g->nouts + w->declared[m->variable - w->g->nouts] - 1, m->value);
}

/* A local that is set: one variable, or a version. */
static void write_local(writer *w, const step *s)
{
  const int local = s->from->index;
  const bool is_mutable = w->g->variables[w->g->nouts + local].is_mutable;
  const bool is_set = is_mutable && w->declared[local];
  const node *n = s->value;
  ambit__stmt *to;

  if (!is_mutable && (!n || !n->is_used || is_plain(n))) return;
  if (!is_mutable && n->holder >= 0 && w->lasts[n->holder]) return;
  w->is_shared = w->g->locals[local].is_shared;
  to = add_stmt(w, s);
  w->is_shared = false;
  if (!to) return;
  to->kind = is_set ? STMT_SET_LOCAL : STMT_LOCAL;
  to->index = is_set ? w->declared[local] - 1 : version_of(w, local);
  w->lasts[w->g->nouts + to->index] = !is_mutable;
  hold(w, w->g->nouts + to->index, s->value);
}

static void write_list(writer *w, const step *list)
{
  for (const step *s = list; s && !w->g->failed; s = s->next)
    if (s->from->kind == STMT_SET_OUT) {
      add_stmt(w, s);
      hold(w, w->g->out_of[s->from->index] + s->from->component, s->value);
    } else if (s->from->kind != STMT_IF) {
      write_local(w, s);
    } else if (s->is_live) {
      write_if(w, s);
    }
}

/* The tables of the rule, and the new ones. */
static void write_tables(writer *w)
{
  const graph *g = w->g;
  const int n = g->rule->ntables + g->ntables;
  ambit__table *all = g->ntables ? take(w, (size_t)n * sizeof *all) : NULL;

  for (int i = 0; all && i < n; i++) {
    all[i] = *ambit__graph_table(g, i);
    if (i >= g->rule->ntables) {
      const size_t bytes = (size_t)all[i].size[0] * ambit_type_size(all[i].type);
      void *copy = take(w, bytes);

      if (copy) memcpy(copy, all[i].values, bytes);
      all[i].values = copy;
    }
  }
  if (!all) return;
  w->to->tables = all;
  w->to->ntables = n;
}

bool ambit__graph_write(graph *g, ambit__rule *to)
{
  const size_t locals = (size_t)g->nlocals + (size_t)g->nsteps;
  const size_t n = locals + (size_t)g->nouts;
  writer w = {.g = g, .to = to, .tail = &to->body};

  to->body = NULL;
  to->flops = 0;
  to->nlocals = 0;
  to->locals = take(&w, (locals + 1) * sizeof *to->locals);
  w.holds = ambit__graph_take(g, n * sizeof *w.holds);
  w.lasts = ambit__graph_take(g, n * sizeof *w.lasts);
  w.declared = ambit__graph_take(g, locals * sizeof *w.declared);
  w.versions = ambit__graph_take(g, locals * sizeof *w.versions);
  if (!g->failed) {
    take_names(&w);
    write_tables(&w);
    write_list(&w, g->first);
  }
  if (!g->failed) ambit__rule_note_locals(to);
  ambit__index_free(&w.names);
  free(w.changes);
  return !g->failed;
}
