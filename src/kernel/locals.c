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

ambit__facts ambit__expr_facts(const ambit__rule *rule, const ambit__expr *e)
{
  const ambit__expr *const parts[] = {e->a, e->b, e->c};
  ambit__facts all = {.once = e->op != EXPR_READ && e->op != EXPR_OUT && !e->is_outside,
                      .calls = e->op == EXPR_CALL,
                      .looks_up = e->op == EXPR_TABLE};

  if (e->op == EXPR_LOCAL) return rule->locals[e->index].facts;
  if (e->op == EXPR_INDEX) all.axes = 1u << e->index;
  if (e->op == EXPR_EXTENT || e->op == EXPR_NORMAL || e->op == EXPR_TABLE)
    all.axes = AMBIT__BY_GRID;
  for (int i = 0; i < 3 && parts[i]; i++) {
    const ambit__facts f = ambit__expr_facts(rule, parts[i]);

    all.once = all.once && f.once ? all.once + f.once : 0;
    all.axes |= f.axes;
    all.calls |= f.calls;
    all.looks_up |= f.looks_up;
  }
  if (all.once > MOST_ONCE) all.once = 0;
  return all;
}

static ambit__visit note_value(void *user, const ambit__stmt *s)
{
  ambit__rule *rule = user;
  ambit__local *l = &rule->locals[s->index];

  if (s->kind != STMT_LOCAL || l->sets != 1 || !s->value) return VISIT_INSIDE;
  l->value = s->value;
  l->facts = ambit__expr_facts(rule, s->value);
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

int ambit__expr_flops(const ambit__expr *e)
{
  if (!ambit__type_is_real(e->type)) return 0;
  if (e->op >= EXPR_ADD && e->op <= EXPR_DIV) return 1;
  if (e->op != EXPR_CALL) return 0;
  return e->call == CALL_fabs ? 0 : e->call == CALL_fma ? 2 : 1;
}
