/* SPDX-License-Identifier: BSD-3-Clause */
/* simplify.c - rules on narrow integers in a canonical form.
 *
 * The rule becomes a graph (graph.h), and the graph the statements of a new rule: a local for every
 * value that is used several times, then the results. What is computed is the same, bit for bit;
 * how it was spelled is forgotten:
 *
 *   int n = gx * gx + gy * gy;
 *   float m = sqrt(n);
 *   if (m > 255) m = 255;
 *   *b = m;
 *
 *   *b = (unsigned char)fminf(sqrtf((float)(s0 * s0 + s1 * s1)), 255.0f);
 */
#include "kernel/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ambit__node node;
typedef ambit__graph graph;

enum { MOST_WORK = 400000, MOST_OUTS = 64 };

/* A written component or a reduction. */
typedef struct out {
  int param, component;
  ambit__place place; /* of the last statement that sets it */
} out;

/* The values at one place of a rule. */
typedef struct state {
  node **locals; /* NULL: not declared yet */
  node *outs[MOST_OUTS];
} state;

typedef struct work {
  graph g;
  const ambit__rule *from;
  ambit__rule *to;
  int nouts;
  out outs[MOST_OUTS];
  bool branches;
  int nlocals;
  const ambit__stmt *first, **tail; /* the new statements */
} work;

/* ---- from statements to nodes ---- */

static int out_of(work *w, int param, int component)
{
  int i = 0;

  while (i < w->nouts && (w->outs[i].param != param || w->outs[i].component != component))
    i++;
  if (i < w->nouts) return i;
  if (w->nouts == MOST_OUTS) {
    w->g.failed = true;
    return 0;
  }
  w->outs[w->nouts++] = (out){.param = param, .component = component};
  return i;
}

/* The value that a written component, or a reduction, has at first. */
static node *initial(work *w, int i)
{
  const bool is_field = w->from->params[w->outs[i].param].kind == PARAM_FIELD;
  const ambit__expr e = {.op = is_field ? EXPR_READ : EXPR_OUT,
                         .type = w->from->params[w->outs[i].param].type,
                         .index = w->outs[i].param,
                         .component = w->outs[i].component};

  return ambit__node_make(&w->g, &e, NULL, NULL, NULL);
}

static node *out_value(work *w, const state *s, int i)
{
  return s->outs[i] ? s->outs[i] : initial(w, i);
}

/* Unsigned numbers other than bytes are left to compilers. */
static bool is_wide(ambit_type type)
{
  return ambit__type_is_unsigned(type) && type != AMBIT_U8;
}

static node *read_expr(work *w, const state *s, const ambit__expr *e)
{
  node *a, *b, *c;

  if (w->g.failed || e->is_outside || is_wide(e->type)) {
    w->g.failed = true;
    return &w->g.nothing;
  }
  if (e->op == EXPR_LOCAL && s->locals[e->index]) return s->locals[e->index];
  if (e->op == EXPR_LOCAL) return ambit__node_number(&w->g, e->type, ambit__value_of(0, e->type));
  if (e->op == EXPR_OUT) return out_value(w, s, out_of(w, e->index, e->component));
  a = e->a ? read_expr(w, s, e->a) : NULL;
  b = e->b ? read_expr(w, s, e->b) : NULL;
  c = e->c ? read_expr(w, s, e->c) : NULL;
  return ambit__node_make(&w->g, e, a, b, c);
}

static void read_list(work *w, state *s, const ambit__stmt *list);

/* Both sides from the same values; what they set is chosen by the condition. */
static void read_condition(work *w, state *s, const ambit__stmt *st)
{
  const size_t bytes = ((size_t)w->from->nlocals + 1) * sizeof(node *);
  state then = *s, other = *s;
  node *c = read_expr(w, s, st->value);

  w->branches = true;
  then.locals = malloc(bytes);
  other.locals = malloc(bytes);
  w->g.failed = w->g.failed || !then.locals || !other.locals;
  if (!w->g.failed) {
    memcpy(then.locals, s->locals, bytes);
    memcpy(other.locals, s->locals, bytes);
    read_list(w, &then, st->body);
    read_list(w, &other, st->other);
    for (int i = 0; i < w->from->nlocals; i++)
      if (s->locals[i])
        s->locals[i] = ambit__node_choice(&w->g, c, then.locals[i], other.locals[i]);
    for (int i = 0; i < w->nouts; i++)
      if (then.outs[i] || other.outs[i])
        s->outs[i] = ambit__node_choice(&w->g, c, out_value(w, &then, i), out_value(w, &other, i));
  }
  free(then.locals);
  free(other.locals);
}

static void read_list(work *w, state *s, const ambit__stmt *list)
{
  for (const ambit__stmt *st = list; st && !w->g.failed; st = st->next) {
    const bool sets = st->kind == STMT_LOCAL || st->kind == STMT_SET_LOCAL;
    const ambit_type type = sets ? w->from->locals[st->index].type : AMBIT_I32;
    node *value = st->kind != STMT_IF && st->value ? read_expr(w, s, st->value) : NULL;

    if (st->kind == STMT_IF) read_condition(w, s, st);
    if (sets && !value) value = ambit__node_number(&w->g, type, ambit__value_of(0, type));
    if (sets) s->locals[st->index] = value;
    if (st->kind == STMT_SET_OUT) {
      const int i = out_of(w, st->index, st->component);

      s->outs[i] = value;
      w->outs[i].place = st->place;
    }
  }
}

/* ---- from nodes to statements ---- */

static void *take(work *w, size_t n, size_t size)
{
  void *p = w->g.failed ? NULL : ambit__arena_alloc(&w->to->arena, n * size);

  w->g.failed = w->g.failed || !p;
  return p;
}

/* Numbers, values of fields and the like, converted or not: they need no local. Reductions do, as
 * they change. */
static bool is_leaf(const node *n)
{
  if (n->nterms || n->e.op == EXPR_OUT) return false;
  return n->e.op < EXPR_TABLE || (n->e.op == EXPR_CAST && is_leaf(ambit__node_a(n)));
}

/* The smaller or larger one of two: the comparison is written with it. */
static bool is_extreme(const node *n)
{
  return !n->nterms && (ambit__expr_is_least(&n->e) || ambit__expr_is_most(&n->e));
}

/* Generated code has the operand of a magnitude several times. */
static void count_uses(node *n)
{
  if (!n || n->uses++) return;
  if (n->e.op == EXPR_CALL && n->e.call == CALL_abs) count_uses(ambit__node_a(n));
  if (is_extreme(n)) {
    count_uses(ambit__node_b(n));
    count_uses(ambit__node_c(n));
  } else {
    count_uses(ambit__node_a(n));
  }
  count_uses(ambit__node_b(n));
  count_uses(ambit__node_c(n));
  for (int i = 0; i < n->nterms; i++)
    count_uses(n->terms[i].value);
}

/* Functions and divisions that no compiler makes vectors of: a side with them keeps its branch. */
static bool is_costly(const node *n)
{
  if (n->nterms || n->e.op < EXPR_NEG) return false;
  if (n->e.op == EXPR_DIV || n->e.op == EXPR_MOD)
    return !ambit__type_is_real(n->e.type) && !ambit__node_is_number(ambit__node_b(n));
  return n->e.op == EXPR_CALL && !ambit__call_is_cheap(n->e.call);
}

static const ambit__expr *write_expr(work *w, node *n);

static const ambit__expr *binary(work *w, ambit__op op, const ambit__expr *a, const ambit__expr *b)
{
  ambit__expr *e = take(w, 1, sizeof *e);

  if (!e || !a) return b;
  *e = (ambit__expr){.op = op, .type = AMBIT_I32, .a = a, .b = b};
  return e;
}

static const ambit__expr *number(work *w, int64_t n)
{
  ambit__expr *e = take(w, 1, sizeof *e);

  if (e) *e = (ambit__expr){.op = EXPR_CONST, .type = AMBIT_I32, .value.integer = n};
  return e;
}

static bool has_sign(const ambit__node_term *t, int64_t size, int sign)
{
  return t->weight == sign * size;
}

/* The terms of a sum whose weights are `size` or its negative, added to `to`: to + size * (a + b -
 * c). `to` may be NULL, if a weight is positive. */
static const ambit__expr *write_terms(work *w, const node *n, int64_t size, const ambit__expr *to)
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

static const ambit__expr *write_sum(work *w, const node *n)
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

/* The expression of a node, whose local is not used. */
static const ambit__expr *write_value(work *w, node *n)
{
  ambit__expr *e;

  if (n->nterms) return write_sum(w, n);
  e = take(w, 1, sizeof *e);
  if (!e) return NULL;
  *e = n->e;
  if (n->e.a && is_extreme(n)) e->a = write_value(w, ambit__node_a(n));
  if (n->e.a && !is_extreme(n)) e->a = write_expr(w, ambit__node_a(n));
  if (n->e.b) e->b = write_expr(w, ambit__node_b(n));
  if (n->e.c) e->c = write_expr(w, ambit__node_c(n));
  return e;
}

static const ambit__expr *write_expr(work *w, node *n)
{
  ambit__expr *e;

  if (n->local < 0) return write_value(w, n);
  e = take(w, 1, sizeof *e);
  if (e) *e = (ambit__expr){.op = EXPR_LOCAL, .type = n->e.type, .index = n->local};
  return e;
}

static void add_stmt(work *w, ambit__stmt value)
{
  ambit__stmt *s = take(w, 1, sizeof *s);

  if (!s) return;
  *s = value;
  *w->tail = s;
  w->tail = &s->next;
}

/* s0, s1, ..., but no name of a parameter or table. */
static const char *name_of(work *w, int local)
{
  char name[32];
  bool taken = false;

  snprintf(name, sizeof name, "s%d", local);
  for (int i = 0; i < w->from->nparams; i++)
    taken = taken || !strcmp(w->from->params[i].name, name);
  for (int i = 0; i < w->from->ntables; i++)
    taken = taken || !strcmp(w->from->tables[i].name, name);
  if (taken) snprintf(name, sizeof name, "s%d_value", local);
  return ambit__arena_strndup(&w->to->arena, name, strlen(name));
}

static int flops_of(const node *n)
{
  if (n->nterms || !ambit__type_is_real(n->e.type)) return 0;
  if (n->e.op >= EXPR_ADD && n->e.op <= EXPR_DIV) return 1;
  return n->e.op == EXPR_CALL && n->e.call != CALL_fabs;
}

/* Declares locals for the values that are used several times, those of operands first. */
static void declare(work *w, node *n)
{
  if (!n || n->is_done || w->g.failed) return;
  n->is_done = true;
  w->g.failed = w->branches && is_costly(n);
  w->to->flops += flops_of(n);
  if (!is_extreme(n)) declare(w, ambit__node_a(n));
  declare(w, ambit__node_b(n));
  declare(w, ambit__node_c(n));
  for (int i = 0; i < n->nterms; i++)
    declare(w, n->terms[i].value);
  if ((n->uses < 2 && n->e.op != EXPR_OUT) || is_leaf(n) || w->g.failed) return;
  add_stmt(w, (ambit__stmt){.kind = STMT_LOCAL,
                            .place = w->from->body->place,
                            .index = w->nlocals,
                            .value = write_value(w, n)});
  if (w->g.failed) return;
  w->to->locals[w->nlocals] = (ambit__local){.name = name_of(w, w->nlocals), .type = n->e.type};
  w->g.failed = !w->to->locals[w->nlocals].name;
  n->local = w->nlocals++;
}

/* The place in the list of the i-th output, by parameter and component. */
static int find_out(const work *w, int i)
{
  for (int k = 0; k < w->nouts; k++) {
    int before = 0;

    for (int m = 0; m < w->nouts; m++)
      before +=
          w->outs[m].param < w->outs[k].param ||
          (w->outs[m].param == w->outs[k].param && w->outs[m].component < w->outs[k].component);
    if (before == i) return k;
  }
  return 0;
}

/* The tables of the rule, and the new ones. */
static void write_tables(work *w)
{
  const int known = w->from->ntables;
  ambit__table *all = take(w, (size_t)(known + w->g.ntables) + 1, sizeof *all);

  if (!all) return;
  for (int i = 0; i < known + w->g.ntables; i++) {
    all[i] = *ambit__graph_table(&w->g, i);
    if (i >= known) {
      const size_t bytes = (size_t)all[i].size[0] * ambit_type_size(all[i].type);
      void *copy = take(w, bytes, 1);

      if (copy) memcpy(copy, all[i].values, bytes);
      all[i].values = copy;
    }
  }
  w->to->tables = all;
  w->to->ntables = known + w->g.ntables;
}

static void write_all(work *w, const state *s)
{
  node *values[MOST_OUTS];

  for (int i = 0; i < w->nouts; i++) {
    values[i] = out_value(w, s, i);
    if (values[i] == initial(w, i)) values[i] = NULL;
    count_uses(values[i]);
  }
  w->to->locals = take(w, (size_t)w->g.count + 1, sizeof *w->to->locals);
  for (int i = 0; i < w->nouts && !w->g.failed; i++)
    declare(w, values[find_out(w, i)]);
  for (int i = 0; i < w->nouts && !w->g.failed; i++) {
    const int k = find_out(w, i);

    if (values[k])
      add_stmt(w, (ambit__stmt){.kind = STMT_SET_OUT,
                                .place = w->outs[k].place,
                                .index = w->outs[k].param,
                                .component = w->outs[k].component,
                                .value = write_expr(w, values[k])});
  }
  if (w->g.ntables) write_tables(w);
  w->to->nlocals = w->nlocals;
  w->to->body = w->first;
  if (!w->g.failed) ambit__rule_note_locals(w->to);
}

/* ---- all ---- */

/* Whether all fields are bytes or shorts, written at the cell itself, and all tables known. */
static bool applies(const ambit__rule *rule)
{
  bool any = false;

  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *p = &rule->params[i];

    if (p->kind == PARAM_FIELD && p->type != AMBIT_U8 && p->type != AMBIT_I16) return false;
    any = any || (p->kind == PARAM_FIELD && p->is_written);
  }
  for (int i = 0; i < rule->ntables; i++)
    if (!rule->tables[i].values) return false;
  return any && rule->body && !ambit__rule_spreads(rule);
}

static bool simplify(work *w)
{
  state s = {.locals = calloc((size_t)w->from->nlocals + 1, sizeof *s.locals)};

  w->g.failed = !s.locals;
  if (s.locals) read_list(w, &s, w->from->body);
  if (!w->g.failed) write_all(w, &s);
  free(s.locals);
  return !w->g.failed && w->first;
}

ambit_status ambit__rule_simplify(ambit__errors *errors, const ambit__rule *rule, ambit__rule **to)
{
  work *w;
  ambit__arena nodes = {0};

  *to = NULL;
  if (!applies(rule)) return AMBIT_OK;
  w = ambit__new(errors, 1, sizeof *w);
  if (!w) return AMBIT_ENOMEM;
  w->from = rule;
  w->to = ambit__new(errors, 1, sizeof *w->to);
  w->g = (graph){.rule = rule, .arena = &nodes, .work = MOST_WORK};
  w->tail = &w->first;
  if (w->to) {
    *w->to = *rule;
    w->to->arena = (ambit__arena){0};
    w->to->written = rule;
    w->to->flops = 0;
    if (simplify(w))
      *to = w->to;
    else
      ambit__rule_free(w->to);
  }
  ambit__arena_free(&nodes);
  free(w);
  return errors->status;
}
