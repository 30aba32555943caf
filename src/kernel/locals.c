/* SPDX-License-Identifier: BSD-3-Clause */
/* locals.c - what is known of the locals of a rule: those that are set once are names of values,
 * and a value may be the same in all cells.
 *
 * It is found in one pass, when a rule is complete: the value of a local contains earlier ones
 * only.
 */
#include "kernel/range.h"

enum { MOST_ONCE = 1000 }; /* operations: a larger value is not written in the place of its name */

static ambit__visit count_set(void *user, const ambit__stmt *s)
{
  ambit__rule *rule = user;

  if (s->kind == STMT_LOCAL || s->kind == STMT_SET_LOCAL) rule->locals[s->index].sets++;
  return VISIT_INSIDE;
}

bool ambit__expr_calls(const ambit__rule *rule, const ambit__expr *e)
{
  if (!e) return false;
  if (e->op == EXPR_LOCAL) return rule->locals[e->index].calls;
  return e->op == EXPR_CALL || ambit__expr_calls(rule, e->a) || ambit__expr_calls(rule, e->b) ||
         ambit__expr_calls(rule, e->c);
}

bool ambit__expr_looks_up(const ambit__rule *rule, const ambit__expr *e)
{
  if (!e) return false;
  if (e->op == EXPR_LOCAL) return rule->locals[e->index].looks_up;
  return e->op == EXPR_TABLE || ambit__expr_looks_up(rule, e->a) ||
         ambit__expr_looks_up(rule, e->b) || ambit__expr_looks_up(rule, e->c);
}

static ambit__visit note_value(void *user, const ambit__stmt *s)
{
  ambit__rule *rule = user;
  ambit__local *l = &rule->locals[s->index];

  if (s->kind != STMT_LOCAL || l->sets != 1 || !s->value) return VISIT_INSIDE;
  l->value = s->value;
  l->once = ambit__expr_once(rule, s->value);
  l->axes = ambit__expr_axes(rule, s->value);
  l->calls = ambit__expr_calls(rule, s->value);
  l->looks_up = ambit__expr_looks_up(rule, s->value);
  return VISIT_INSIDE;
}

void ambit__rule_note_locals(ambit__rule *rule)
{
  for (int i = 0; i < rule->nlocals; i++)
    rule->locals[i] = (ambit__local){.name = rule->locals[i].name,
                                     .type = rule->locals[i].type,
                                     .is_shared = rule->locals[i].is_shared};
  ambit__visit_stmts(&(ambit__visitor){.stmt = count_set, .user = rule}, rule->body);
  ambit__visit_stmts(&(ambit__visitor){.stmt = note_value, .user = rule}, rule->body);
}

const ambit__expr *ambit__only_value(const ambit__rule *rule, int local)
{
  return rule->locals[local].value;
}

/* Adds the operations of a part; *n is 0 if it has values of fields. Whether it has none. */
static bool add_once(const ambit__rule *rule, const ambit__expr *part, int *n)
{
  const int more = part ? ambit__expr_once(rule, part) : 0;

  *n = part && !more ? 0 : *n + more;
  return *n > 0;
}

int ambit__expr_once(const ambit__rule *rule, const ambit__expr *e)
{
  int n = 1;

  if (e->is_outside) return 0;
  switch (e->op) {
  case EXPR_CONST:
  case EXPR_VALUE:
  case EXPR_INDEX:
  case EXPR_EXTENT:
  case EXPR_NORMAL:
  case EXPR_STEP: return 1;
  case EXPR_LOCAL: return rule->locals[e->index].once;
  case EXPR_READ:
  case EXPR_OUT: return 0;
  default:
    return add_once(rule, e->a, &n) && add_once(rule, e->b, &n) && add_once(rule, e->c, &n) &&
                   n <= MOST_ONCE
               ? n
               : 0;
  }
}

unsigned ambit__expr_axes(const ambit__rule *rule, const ambit__expr *e)
{
  const unsigned grid = AMBIT__BY_GRID;

  if (!e) return 0;
  switch (e->op) {
  case EXPR_LOCAL: return rule->locals[e->index].axes;
  case EXPR_INDEX: return 1u << e->index;
  case EXPR_EXTENT:
  case EXPR_NORMAL: return grid;
  default:
    return ambit__expr_axes(rule, e->a) | ambit__expr_axes(rule, e->b) |
           ambit__expr_axes(rule, e->c) | (e->op == EXPR_TABLE ? grid : 0);
  }
}

int ambit__expr_flops(const ambit__expr *e)
{
  if (!ambit__type_is_real(e->type)) return 0;
  if (e->op >= EXPR_ADD && e->op <= EXPR_DIV) return 1;
  if (e->op != EXPR_CALL) return 0;
  return e->call == CALL_fabs ? 0 : e->call == CALL_fma ? 2 : 1;
}
