/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/flat.h"

#include <limits.h>

/* The functions of <math.h> that are a few vector instructions. */
static bool is_cheap_call(ambit__call c)
{
  switch (c) {
  case CALL_fabs:
  case CALL_sqrt:
  case CALL_fmin:
  case CALL_fmax:
  case CALL_fma:
  case CALL_floor:
  case CALL_ceil:
  case CALL_trunc:
  case CALL_rint:
  case CALL_copysign:
  case CALL_abs: return true;
  default: return false;
  }
}

bool ambit__flat_expr(const ambit__expr *e)
{
  if (!e) return true;
  if (e->op == EXPR_CALL && !is_cheap_call(e->call)) return false;
  if ((e->op == EXPR_DIV || e->op == EXPR_MOD) && !ambit__type_is_real(e->type) &&
      e->b->op != EXPR_CONST)
    return false;
  return ambit__flat_expr(e->a) && ambit__flat_expr(e->b) && ambit__flat_expr(e->c);
}

static bool flat_stmts(const ambit__stmt *list)
{
  for (; list; list = list->next)
    if (!ambit__flat_expr(list->value) || !flat_stmts(list->body) || !flat_stmts(list->other))
      return false;
  return true;
}

static bool expr_branches(const ambit__expr *e)
{
  return e &&
         (e->op == EXPR_COND || expr_branches(e->a) || expr_branches(e->b) || expr_branches(e->c));
}

static bool branches(const ambit__stmt *list)
{
  for (; list; list = list->next)
    if (list->kind == STMT_IF || expr_branches(list->value)) return true;
  return false;
}

bool ambit__rule_branches(const ambit__rule *rule)
{
  return branches(rule->body);
}

/* The first local that statements declare: locals are numbered in the order of their declarations,
 * so those from this one on do not outlive the statements. */
static int first_declared(const ambit__stmt *list, int first)
{
  for (; list; list = list->next) {
    if (list->kind == STMT_LOCAL && list->index < first) first = list->index;
    first = first_declared(list->other, first_declared(list->body, first));
  }
  return first;
}

static bool has(const ambit__flat_variable *v, int n, const ambit__stmt *s)
{
  for (int i = 0; i < n; i++)
    if (v[i].kind == s->kind && v[i].index == s->index && v[i].component == s->component)
      return true;
  return false;
}

static int collect(const ambit__stmt *list, int first, ambit__flat_variable *v, int n)
{
  for (; list && n <= AMBIT__FLAT_MOST; list = list->next) {
    const bool inside = list->kind != STMT_SET_OUT && list->index >= first;

    if (list->kind == STMT_IF)
      n = collect(list->other, first, v, collect(list->body, first, v, n));
    else if (list->kind != STMT_LOCAL && !inside && !has(v, n, list) && n++ < AMBIT__FLAT_MOST)
      v[n - 1] = (ambit__flat_variable){list->kind, list->index, list->component};
  }
  return n;
}

int ambit__flat_variables(const ambit__stmt *condition, ambit__flat_variable *variables)
{
  const int first = first_declared(condition->other, first_declared(condition->body, INT_MAX));

  if (!flat_stmts(condition->body) || !flat_stmts(condition->other)) return AMBIT__FLAT_MOST + 1;
  return collect(condition->other, first, variables, collect(condition->body, first, variables, 0));
}
