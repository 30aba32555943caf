/* SPDX-License-Identifier: BSD-3-Clause */
#include "nest/dots.h"

#include <stdlib.h>

enum {
  FEWEST = 3, /* terms of a sum that is worth it */
  MOST_NODES = 400
};

static bool add_term(ambit__dot *to, const ambit__expr *read, int64_t weight)
{
  int i = 0;

  while (i < to->n && !ambit__expr_is_same(to->reads[i], read))
    i++;
  if (i == AMBIT__DOT_TERMS) return false;
  if (i == to->n) {
    to->reads[to->n] = read;
    to->weights[to->n++] = 0;
  }
  weight += to->weights[i];
  to->weights[i] = (int)weight;
  return weight >= INT8_MIN && weight <= INT8_MAX;
}

static bool is_narrow(ambit_type type)
{
  return type == AMBIT_U8 || type == AMBIT_I16;
}

/* Adds the multiple of an expression to a sum. false: it is no sum of bytes or shorts. */
static bool add(const ambit__rule *rule, ambit__dot *to, const ambit__expr *e, int64_t times,
                int *nodes)
{
  const ambit__expr *only;

  if (++*nodes > MOST_NODES || times < INT8_MIN || times > INT8_MAX) return false;
  if (e->op == EXPR_CAST && e->type == AMBIT_I32 && is_narrow(e->a->type))
    return e->a->op == EXPR_READ && add_term(to, e->a, times);
  if (e->type != AMBIT_I32) return false;
  switch (e->op) {
  case EXPR_CONST:
    to->constant = (int32_t)((uint32_t)to->constant + (uint32_t)(e->value.integer * times));
    return true;
  case EXPR_LOCAL:
    only = ambit__only_value(rule, e->index);
    return only && add(rule, to, only, times, nodes);
  case EXPR_NEG: return add(rule, to, e->a, -times, nodes);
  case EXPR_ADD: return add(rule, to, e->a, times, nodes) && add(rule, to, e->b, times, nodes);
  case EXPR_SUB: return add(rule, to, e->a, times, nodes) && add(rule, to, e->b, -times, nodes);
  case EXPR_MUL:
    if (e->a->op == EXPR_CONST && llabs(e->a->value.integer) <= -INT8_MIN)
      return add(rule, to, e->b, times * e->a->value.integer, nodes);
    return e->b->op == EXPR_CONST && llabs(e->b->value.integer) <= -INT8_MIN &&
           add(rule, to, e->a, times * e->b->value.integer, nodes);
  default: return false;
  }
}

bool ambit__dot_of(const ambit__rule *rule, const ambit__expr *e, ambit__dot *sum)
{
  int nodes = 0;

  sum->n = 0;
  sum->constant = 0;
  return e->type == AMBIT_I32 && e->op != EXPR_LOCAL && add(rule, sum, e, 1, &nodes) &&
         sum->n >= FEWEST;
}

bool ambit__is_dot(const ambit__rule *rule, const ambit__expr *e)
{
  ambit__dot sum;

  return rule && ambit__dot_of(rule, e, &sum);
}

static ambit__visit find_dot(void *user, const ambit__expr *e)
{
  return ambit__is_dot(*(const ambit__rule *const *)user, e) ? VISIT_END : VISIT_INSIDE;
}

bool ambit__rule_has_dots(const ambit__rule *rule)
{
  return ambit__visit_stmts(&(ambit__visitor){.expr = find_dot, .user = &rule}, rule->body);
}
