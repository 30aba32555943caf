/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.c - nodes: equal ones are made once, and have a range and a canonical order. */
#include "kernel/graph.h"

#include <string.h>

ambit__graph_node *ambit__node_a(const ambit__graph_node *n)
{
  return (ambit__graph_node *)n->e.a;
}

ambit__graph_node *ambit__node_b(const ambit__graph_node *n)
{
  return (ambit__graph_node *)n->e.b;
}

ambit__graph_node *ambit__node_c(const ambit__graph_node *n)
{
  return (ambit__graph_node *)n->e.c;
}

bool ambit__node_is_number(const ambit__graph_node *n)
{
  return n->e.op == EXPR_CONST;
}

/* ---- equality ---- */

static uint64_t mix(uint64_t h, uint64_t x)
{
  h = (h ^ x) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

static uint64_t hash_of(const ambit__graph_node *n)
{
  uint64_t h = mix((uint64_t)n->e.op, (uint64_t)n->e.type), bits = 0;

  memcpy(&bits, &n->e.value, sizeof bits);
  h = mix(mix(h, bits), (uint64_t)n->e.index);
  h = mix(mix(h, (uint64_t)n->e.component), (uint64_t)n->e.call);
  if (n->e.is_outside) h = mix(h, 1);
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    h = mix(h, (uint64_t)n->e.offset[d]);
  h = mix(h, n->e.a ? ambit__node_a(n)->hash : 1);
  h = mix(h, n->e.b ? ambit__node_b(n)->hash : 2);
  h = mix(h, n->e.c ? ambit__node_c(n)->hash : 3);
  h = mix(mix(h, (uint64_t)n->constant), (uint64_t)n->nterms);
  for (int i = 0; i < n->nterms; i++)
    h = mix(mix(h, n->terms[i].value->hash), (uint64_t)n->terms[i].weight);
  return h;
}

static bool same_terms(const ambit__graph_node *x, const ambit__graph_node *y)
{
  if (x->nterms != y->nterms || x->constant != y->constant) return false;
  for (int i = 0; i < x->nterms; i++)
    if (x->terms[i].value != y->terms[i].value || x->terms[i].weight != y->terms[i].weight)
      return false;
  return true;
}

static bool is_same(const ambit__graph_node *x, const ambit__graph_node *y)
{
  const ambit__expr *a = &x->e, *b = &y->e;

  return x->hash == y->hash && a->op == b->op && a->type == b->type && a->a == b->a &&
         a->b == b->b && a->c == b->c && a->index == b->index && a->component == b->component &&
         a->call == b->call && a->is_outside == b->is_outside &&
         a->value.integer == b->value.integer && !memcmp(a->offset, b->offset, sizeof a->offset) &&
         same_terms(x, y);
}

/* Fields first, in the order of memory; then everything else in some order. */
int ambit__node_compare(const ambit__graph_node *a, const ambit__graph_node *b)
{
  const ambit__expr *x = &a->e, *y = &b->e;

  while (x->op == EXPR_CAST)
    x = x->a;
  while (y->op == EXPR_CAST)
    y = y->a;
  if ((x->op == EXPR_READ) != (y->op == EXPR_READ)) return x->op == EXPR_READ ? -1 : 1;
  if (x->op == EXPR_READ && x->index != y->index) return x->index - y->index;
  if (x->op == EXPR_READ && x->component != y->component) return x->component - y->component;
  for (int d = 0; x->op == EXPR_READ && d < AMBIT_MAX_DIMS; d++)
    if (x->offset[d] != y->offset[d]) return x->offset[d] - y->offset[d];
  return a->hash < b->hash ? -1 : a->hash > b->hash;
}

/* ---- what is known of a node ---- */

static ambit__range range_of_sum(const ambit__graph_node *n)
{
  const ambit__range all = ambit__range_of_type(AMBIT_I32);
  ambit__range sum = {n->constant, n->constant};

  for (int i = 0; i < n->nterms; i++) {
    const int64_t w = n->terms[i].weight;
    const ambit__range r = n->terms[i].value->range;

    if (w > 1 << 20 || w < -(1 << 20)) return all;
    sum.low += w * (w > 0 ? r.low : r.high);
    sum.high += w * (w > 0 ? r.high : r.low);
  }
  return sum.low < all.low || sum.high > all.high ? all : sum;
}

static ambit__range range_of(const ambit__graph *g, const ambit__graph_node *n)
{
  const ambit__range none = {0, 0};

  if (n->nterms) return range_of_sum(n);
  if (g->extent && (n->e.op == EXPR_INDEX || n->e.op == EXPR_EXTENT))
    return (ambit__range){0, g->extent};
  return ambit__range_from(&n->e, n->e.a ? ambit__node_a(n)->range : none,
                           n->e.b ? ambit__node_b(n)->range : none,
                           n->e.c ? ambit__node_c(n)->range : none);
}

/* Two bases of one node: -1 if there is no common one. */
static bool join_base(ambit__graph_node **base, ambit__graph_node *operand)
{
  if (!operand || !operand->base) return true;
  if (!*base) *base = operand->base;
  return *base == operand->base;
}

static ambit__graph_node *base_of(ambit__graph_node *n)
{
  ambit__graph_node *base = NULL;
  bool one = join_base(&base, ambit__node_a(n)) && join_base(&base, ambit__node_b(n)) &&
             join_base(&base, ambit__node_c(n));

  for (int i = 0; i < n->nterms; i++)
    one = one && join_base(&base, n->terms[i].value);
  if (ambit__node_is_number(n)) return NULL;
  return one && base ? base : n;
}

/* ---- making nodes ---- */

static const ambit__node_term *keep_terms(ambit__graph *g, const ambit__graph_node *n)
{
  const size_t bytes = (size_t)n->nterms * sizeof *n->terms;
  ambit__node_term *copy = n->nterms ? ambit__graph_take(g, bytes) : NULL;

  if (copy) memcpy(copy, n->terms, bytes);
  return copy;
}

static ambit__graph_node *add_node(ambit__graph *g, const ambit__graph_node *like,
                                   ambit__range range)
{
  ambit__graph_node *n = ambit__graph_take(g, sizeof *n), **at = NULL;

  if (n) at = ambit__add(g->errors, &g->nodes, (size_t)g->count, &g->nodes_cap, sizeof *at);
  if (!at || g->count == g->most ||
      ambit__index_add(g->errors, &g->index, like->hash, g->count) != AMBIT_OK) {
    g->failed = true;
    return &g->nothing;
  }
  *n = *like;
  n->terms = keep_terms(g, like);
  n->range = range;
  n->base = base_of(n);
  n->name = n->holder = -1;
  n->id = g->count;
  *at = n;
  g->count++;
  return n;
}

ambit__graph_node *ambit__node_within(ambit__graph *g, const ambit__graph_node *n,
                                      ambit__range range)
{
  ambit__graph_node like = *n;
  int i;

  like.hash = hash_of(&like);
  for (size_t at = 0; (i = ambit__index_next(&g->index, like.hash, &at)) >= 0;)
    if (is_same(g->nodes[i], &like)) return g->nodes[i];
  return add_node(g, &like, range);
}

ambit__graph_node *ambit__node_get(ambit__graph *g, const ambit__graph_node *n)
{
  return ambit__node_within(g, n, range_of(g, n));
}

ambit__graph_node *ambit__node_like(ambit__graph *g, const ambit__expr *like, ambit__graph_node *a,
                                    ambit__graph_node *b, ambit__graph_node *c)
{
  ambit__graph_node n = {.e = *like};

  n.e.a = a ? &a->e : NULL;
  n.e.b = b ? &b->e : NULL;
  n.e.c = c ? &c->e : NULL;
  return ambit__node_get(g, &n);
}

ambit__graph_node *ambit__node_plain(ambit__graph *g, ambit__op op, ambit_type type,
                                     ambit__graph_node *a, ambit__graph_node *b,
                                     ambit__graph_node *c)
{
  return ambit__node_like(g, &(ambit__expr){.op = op, .type = type}, a, b, c);
}

ambit__graph_node *ambit__node_minus(ambit__graph *g, ambit__graph_node *n)
{
  return ambit__node_plain(g, EXPR_NEG, n->e.type, n, NULL, NULL);
}

ambit__graph_node *ambit__node_call(ambit__graph *g, ambit__call call, ambit_type type,
                                    ambit__graph_node *a, ambit__graph_node *b,
                                    ambit__graph_node *c)
{
  return ambit__node_like(g, &(ambit__expr){.op = EXPR_CALL, .call = call, .type = type}, a, b, c);
}

ambit__graph_node *ambit__node_number(ambit__graph *g, ambit_type type, ambit__value v)
{
  return ambit__node_like(g, &(ambit__expr){.op = EXPR_CONST, .type = type, .value = v}, NULL, NULL,
                          NULL);
}

ambit__graph_node *ambit__node_int(ambit__graph *g, int64_t n)
{
  return ambit__node_number(g, AMBIT_I32, (ambit__value){.integer = n});
}

/* ---- values ---- */

const ambit__table *ambit__graph_table(const ambit__graph *g, int table)
{
  const int known = g->rule->ntables;

  return table < known ? &g->rule->tables[table] : &g->tables[table - known];
}

static ambit__value evaluate_sum(ambit__graph *g, const ambit__graph_node *n,
                                 const ambit__graph_node *base, ambit__value v)
{
  uint32_t sum = (uint32_t)n->constant;

  for (int i = 0; i < n->nterms; i++)
    sum += (uint32_t)n->terms[i].weight *
           (uint32_t)ambit__node_evaluate(g, n->terms[i].value, base, v).integer;
  return (ambit__value){.integer = (int32_t)sum};
}

ambit__value ambit__node_evaluate(ambit__graph *g, const ambit__graph_node *n,
                                  const ambit__graph_node *base, ambit__value v)
{
  ambit__value x[3] = {{0}, {0}, {0}};

  if (n == base) return v;
  if (ambit__node_is_number(n)) return n->e.value;
  if (--g->work < 0) return x[0];
  if (n->nterms) return evaluate_sum(g, n, base, v);
  if (!n->e.a) return x[0]; /* another leaf than the base: never */
  x[0] = ambit__node_evaluate(g, ambit__node_a(n), base, v);
  if (n->e.b) x[1] = ambit__node_evaluate(g, ambit__node_b(n), base, v);
  if (n->e.c) x[2] = ambit__node_evaluate(g, ambit__node_c(n), base, v);
  if (n->e.op == EXPR_TABLE)
    return ambit__table_at(ambit__graph_table(g, n->e.index), x[0].integer, x[1].integer);
  return ambit__operation_value(&n->e, x);
}
