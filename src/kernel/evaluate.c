/* SPDX-License-Identifier: BSD-3-Clause */
/* evaluate.c - walks the trees of a rule and computes their values, by the operators of value.h. */
#include "kernel/kernel.h"

static bool is_true(const ambit__evaluator *v, const ambit__expr *e)
{
  return ambit__value_is_true(ambit__evaluate(v, e), e->type);
}

static ambit__value logic(const ambit__evaluator *v, const ambit__expr *e)
{
  const bool a = is_true(v, e->a), decided = a == (e->op == EXPR_LOR);
  const bool b = decided && !v->both ? a : is_true(v, e->b);

  return (ambit__value){.integer = decided ? a : b};
}

ambit__value ambit__operation_value(const ambit__expr *e, const ambit__value x[3])
{
  switch (e->op) {
  case EXPR_COND: return ambit__value_is_true(x[0], e->a->type) ? x[1] : x[2];
  case EXPR_CAST: return ambit__value_cast(x[0], e->a->type, e->type);
  case EXPR_CALL: return ambit__value_call(e->call, e->type, x[0], x[1], x[2]);
  case EXPR_NEG:
  case EXPR_NOT:
  case EXPR_COMPL: return ambit__value_unary((int)e->op, e->a->type, x[0]);
  default: return ambit__value_binary((int)e->op, e->a->type, x[0], x[1]);
  }
}

static ambit__value operation(const ambit__evaluator *v, const ambit__expr *e)
{
  ambit__value x[3] = {ambit__evaluate(v, e->a), {0}, {0}};

  if (e->b) x[1] = ambit__evaluate(v, e->b);
  if (e->c) x[2] = ambit__evaluate(v, e->c);
  return ambit__operation_value(e, x);
}

ambit__value ambit__evaluate(const ambit__evaluator *v, const ambit__expr *e)
{
  if (e->is_outside) return v->leaf(v, e);
  switch (e->op) {
  case EXPR_CONST: return e->value;
  case EXPR_LOCAL: return v->locals[e->index];
  case EXPR_VALUE:
  case EXPR_READ:
  case EXPR_OUT:
  case EXPR_INDEX:
  case EXPR_EXTENT:
  case EXPR_STEP:
  case EXPR_NORMAL:
  case EXPR_TABLE: return v->leaf(v, e);
  case EXPR_LAND:
  case EXPR_LOR: return logic(v, e);
  case EXPR_COND: return ambit__evaluate(v, is_true(v, e->a) ? e->b : e->c);
  default: return operation(v, e);
  }
}

void ambit__evaluate_all(const ambit__evaluator *v, const ambit__stmt *s)
{
  for (; s; s = s->next)
    switch (s->kind) {
    case STMT_LOCAL:
    case STMT_SET_LOCAL:
      v->locals[s->index] = s->value ? ambit__evaluate(v, s->value) : (ambit__value){0};
      break;
    case STMT_SET_OUT: v->set(v, s, ambit__evaluate(v, s->value)); break;
    case STMT_IF: ambit__evaluate_all(v, is_true(v, s->value) ? s->body : s->other); break;
    }
}
