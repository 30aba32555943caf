/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/flat.h"
#include "codegen/hoist.h"

#include <limits.h>

bool ambit__calls_own(const ambit__expr *e)
{
  if (e->op != EXPR_CALL || !ambit__type_is_real(e->type)) return false;
  switch (e->call) {
  case CALL_fmod:
  case CALL_cbrt:
  case CALL_erf: return false;
  default: return !ambit__call_is_cheap(e->call);
  }
}

int ambit__calls_power(const ambit__expr *e)
{
  if (e->op != EXPR_CALL || e->call != CALL_pow || e->b->op != EXPR_CONST) return 0;
  for (int n = 2; n <= 4; n++)
    if (e->b->value.real == n) return n;
  return 0;
}

/* Integer division has no vector instruction, except by a constant. */
static bool is_costly(const ambit__expr *e, bool relaxed)
{
  if (e->op == EXPR_CALL)
    return !ambit__call_is_cheap(e->call) && !(relaxed && ambit__calls_own(e));
  return (e->op == EXPR_DIV || e->op == EXPR_MOD) && !ambit__type_is_real(e->type) &&
         e->b->op != EXPR_CONST;
}

/* What is computed once for all cells, or for those of a row, does not count; NULL: nothing is. */
static bool flat_expr(const ambit__rule *rule, const ambit__expr *e, bool relaxed, int last)
{
  if (!e || (rule && (ambit__is_invariant(rule, e) || ambit__is_of_row(rule, e, last))))
    return true;
  return !is_costly(e, relaxed) && flat_expr(rule, e->a, relaxed, last) &&
         flat_expr(rule, e->b, relaxed, last) && flat_expr(rule, e->c, relaxed, last);
}

static bool flat_stmts(const ambit__rule *rule, const ambit__stmt *list, bool relaxed, int last)
{
  for (; list; list = list->next)
    if (!flat_expr(rule, list->value, relaxed, last) ||
        !flat_stmts(rule, list->body, relaxed, last) ||
        !flat_stmts(rule, list->other, relaxed, last))
      return false;
  return true;
}

bool ambit__rule_is_flat(const ambit__rule *rule, bool relaxed, int last)
{
  return flat_stmts(rule, rule->body, relaxed, last);
}

static bool expr_calls_own(const ambit__expr *e)
{
  return e && (ambit__calls_own(e) || expr_calls_own(e->a) || expr_calls_own(e->b) ||
               expr_calls_own(e->c));
}

static bool stmts_call_own(const ambit__stmt *list)
{
  for (; list; list = list->next)
    if (expr_calls_own(list->value) || stmts_call_own(list->body) || stmts_call_own(list->other))
      return true;
  return false;
}

bool ambit__rule_calls_own(const ambit__rule *rule, int last)
{
  return stmts_call_own(rule->body) && ambit__rule_is_flat(rule, true, last);
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

int ambit__flat_variables(const ambit__stmt *condition, bool own_calls,
                          ambit__flat_variable *variables)
{
  const int first = first_declared(condition->other, first_declared(condition->body, INT_MAX));

  if (!flat_stmts(NULL, condition->body, own_calls, -1) ||
      !flat_stmts(NULL, condition->other, own_calls, -1))
    return AMBIT__FLAT_MOST + 1;
  return collect(condition->other, first, variables, collect(condition->body, first, variables, 0));
}
