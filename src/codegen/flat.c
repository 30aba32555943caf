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

bool ambit__calls_angle(const ambit__expr *e)
{
  return e->op == EXPR_CALL && e->type == AMBIT_F32 &&
         (e->call == CALL_sin || e->call == CALL_cos || e->call == CALL_tan ||
          e->call == CALL_atan2);
}

static ambit__visit find_any(void *user, const ambit__expr *e)
{
  return (*(bool (**)(const ambit__expr *))user)(e) ? VISIT_END : VISIT_INSIDE;
}

/* Whether any expression of a rule is of a kind. */
static bool has_any(const ambit__rule *rule, bool (*is)(const ambit__expr *))
{
  return ambit__visit_stmts(&(ambit__visitor){.expr = find_any, .user = &is}, rule->body);
}

bool ambit__rule_calls_angles(const ambit__rule *rule)
{
  return has_any(rule, ambit__calls_angle);
}

int ambit__calls_power(const ambit__expr *e)
{
  if (e->op != EXPR_CALL || e->call != CALL_pow || e->b->op != EXPR_CONST) return 0;
  for (int n = 2; n <= 4; n++)
    if (e->b->value.real == n) return n;
  return 0;
}

/* Division of integers has no vector instruction, except by a constant, and by way of doubles
 * (AMBIT_QUOTIENT in prelude/arithmetic.h). */
static bool is_costly(const ambit__expr *e, bool relaxed)
{
  if (e->op == EXPR_CALL)
    return !ambit__call_is_cheap(e->call) && !(relaxed && ambit__calls_own(e));
  return (e->op == EXPR_DIV || e->op == EXPR_MOD) && e->b->op != EXPR_CONST &&
         (e->type == AMBIT_I64 || e->type == AMBIT_U64);
}

/* What flat statements must not have. */
typedef struct demand {
  const ambit__rule *rule; /* NULL: nothing is computed outside of cells */
  bool relaxed;
  int last;
} demand;

/* What is computed once for all cells, or for those of a row, does not count. */
static ambit__visit find_costly(void *user, const ambit__expr *e)
{
  const demand *s = user;

  if (s->rule && (ambit__is_invariant(s->rule, e) || ambit__is_of_row(s->rule, e, s->last)))
    return VISIT_PAST;
  return is_costly(e, s->relaxed) ? VISIT_END : VISIT_INSIDE;
}

static bool is_flat(demand s, const ambit__stmt *list)
{
  return !ambit__visit_stmts(&(ambit__visitor){.expr = find_costly, .user = &s}, list);
}

bool ambit__rule_is_flat(const ambit__rule *rule, bool relaxed, int last)
{
  return is_flat((demand){rule, relaxed, last}, rule->body);
}

bool ambit__rule_calls_own(const ambit__rule *rule, int last)
{
  return has_any(rule, ambit__calls_own) && ambit__rule_is_flat(rule, true, last);
}

static ambit__visit find_if(void *user, const ambit__stmt *s)
{
  (void)user;
  return s->kind == STMT_IF ? VISIT_END : VISIT_INSIDE;
}

static bool is_choice(const ambit__expr *e)
{
  return e->op == EXPR_COND;
}

bool ambit__rule_branches(const ambit__rule *rule)
{
  return has_any(rule, is_choice) ||
         ambit__visit_stmts(&(ambit__visitor){.stmt = find_if}, rule->body);
}

/* ---- on GPUs ---- */

enum { MOST_LIGHT = 32, HEAVY = MOST_LIGHT + 1 }; /* instructions; doubles take two */

typedef struct side {
  bool relaxed, registers;
  int work;
} side;

static int work_of_division(const side *s, const ambit__expr *e)
{
  const bool by_number = e->b->op == EXPR_CONST;

  if (!ambit__type_is_real(e->type)) return by_number ? 4 : HEAVY;
  if (e->type == AMBIT_F32 && s->relaxed) return by_number ? 4 : 8;
  return 16;
}

static int work_of_call(const side *s, const ambit__expr *e)
{
  if (s->relaxed && ambit__calls_power(e)) return ambit__calls_power(e);
  if (e->call == CALL_sqrt) return e->type == AMBIT_F32 ? 8 : 16;
  return ambit__call_is_cheap(e->call) ? 2 : HEAVY;
}

static ambit__visit weigh(void *user, const ambit__expr *e)
{
  side *s = user;

  if (e->op == EXPR_TABLE || (e->op == EXPR_READ && !s->registers))
    s->work += HEAVY;
  else if (e->op == EXPR_DIV || e->op == EXPR_MOD)
    s->work += work_of_division(s, e);
  else if (e->op == EXPR_CALL)
    s->work += work_of_call(s, e);
  else if (e->op >= EXPR_NEG)
    s->work += ambit_type_size(e->type) > 4 ? 2 : 1;
  return s->work > MOST_LIGHT ? VISIT_END : VISIT_INSIDE;
}

bool ambit__side_is_light(const ambit__expr *e, const ambit__stmt *list, bool relaxed,
                          bool registers)
{
  side s = {.relaxed = relaxed, .registers = registers};
  const ambit__visitor v = {.expr = weigh, .user = &s};

  return !ambit__visit_expr(&v, e) && !ambit__visit_stmts(&v, list);
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
  const demand s = {.relaxed = own_calls, .last = -1};

  if (!is_flat(s, condition->body) || !is_flat(s, condition->other)) return AMBIT__FLAT_MOST + 1;
  return collect(condition->other, first, variables, collect(condition->body, first, variables, 0));
}
