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

#include <stdlib.h>

typedef ambit__graph_node node;
typedef ambit__graph graph;

enum { MOST_WORK = 400000, MOST_NODES = 4000 };

typedef struct work {
  graph *g;
  ambit__graph_step **end; /* of the new steps */
  bool branches;           /* the rule has conditions */
} work;

/* Numbers, values of fields and the like, converted or not: they need no local. Reductions do, as
 * they change. */
static bool is_leaf(const node *n)
{
  if (n->nterms || n->e.op == EXPR_OUT) return false;
  return n->e.op < EXPR_TABLE || (n->e.op == EXPR_CAST && is_leaf(ambit__node_a(n)));
}

/* Generated code has the operand of a magnitude several times. */
static void count_uses(node *n)
{
  if (!n || n->uses++) return;
  if (n->e.op == EXPR_CALL && n->e.call == CALL_abs) count_uses(ambit__node_a(n));
  if (ambit__expr_is_extreme(&n->e)) {
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

static void add_step(work *w, ambit__graph_step *s)
{
  if (!s) return;
  *w->end = s;
  w->end = &s->next;
}

/* Locals for the values that are used several times, those of operands first. */
static void declare(work *w, node *n)
{
  if (!n || n->is_done || w->g->failed) return;
  n->is_done = true;
  w->g->failed = w->branches && is_costly(n);
  if (!ambit__expr_is_extreme(&n->e)) declare(w, ambit__node_a(n));
  declare(w, ambit__node_b(n));
  declare(w, ambit__node_c(n));
  for (int i = 0; i < n->nterms; i++)
    declare(w, n->terms[i].value);
  if ((n->uses > 1 || n->e.op == EXPR_OUT) && !is_leaf(n))
    add_step(w, ambit__graph_name(w->g, "s", w->g->nlocals - w->g->rule->nlocals, false,
                                  w->g->rule->body->place, n));
}

/* The step that sets a component last has the place of it. */
static void add_result(work *w, int variable, node *value)
{
  const ambit__variable *v = &w->g->variables[variable];

  add_step(w, ambit__graph_add_step(w->g,
                                    (ambit__stmt){.kind = STMT_SET_OUT,
                                                  .place = v->steps->from->place,
                                                  .index = v->param,
                                                  .component = v->component},
                                    value));
}

/* Replaces the steps of the rule. */
static void make_steps(work *w)
{
  graph *g = w->g;
  node **values = ambit__new(g->errors, (size_t)g->nouts, sizeof *values);

  g->failed = g->failed || !values;
  for (int i = 0; i < g->nouts && !g->failed; i++) {
    values[i] = g->variables[i].value;
    if (values[i] == ambit__graph_initial(g, i)) values[i] = NULL;
    count_uses(values[i]);
  }
  for (const ambit__graph_step *s = g->first; s; s = s->next)
    w->branches |= s->from->kind == STMT_IF;
  g->first = NULL;
  w->end = &g->first;
  for (int i = 0; i < g->nouts && !g->failed; i++)
    declare(w, values[i]);
  for (int i = 0; i < g->nouts && !g->failed; i++)
    if (values[i]) add_result(w, i, values[i]);
  free(values);
}

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

ambit_status ambit__rule_simplify(ambit__errors *errors, const ambit__rule *rule, ambit__rule **to)
{
  graph g = {.errors = errors,
             .rule = rule,
             .make = ambit__node_make,
             .most = MOST_NODES,
             .work = MOST_WORK};
  work w = {.g = &g};
  ambit__rule *made;

  *to = NULL;
  if (!applies(rule)) return AMBIT_OK;
  made = ambit__rule_like(errors, rule);
  if (!made) return AMBIT_ENOMEM;
  ambit__graph_read(&g);
  if (!g.failed) make_steps(&w);
  if (!g.failed) ambit__graph_use(&g);
  if (!g.failed && g.first && ambit__graph_write(&g, made))
    *to = made;
  else
    ambit__rule_free(made);
  ambit__graph_free(&g);
  return errors->status;
}
