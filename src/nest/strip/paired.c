/* SPDX-License-Identifier: BSD-3-Clause */
/* paired.c - whether all results of a rule are computed for several cells at a time. */
#include "nest/strip/pairs.h"

/* Whether an expression compares numbers, other than for a minimum or maximum. */
static bool tests(const ambit__expr *e)
{
  if (!e) return false;
  if (ambit__expr_is_least(e) || ambit__expr_is_most(e)) return tests(e->b) || tests(e->c);
  return (e->op >= EXPR_LT && e->op <= EXPR_NE) || tests(e->a) || tests(e->b) || tests(e->c);
}

static bool any_tests(const ambit__stmt *list)
{
  for (; list; list = list->next)
    if (tests(list->value) || list->kind == STMT_IF) return true;
  return false;
}

/* Sums of bytes with nothing but arithmetic after them are faster one by one, as dots; those that
 * are compared are faster as pairs. */
static bool is_better_paired(const ambit__rule *rule)
{
  return !ambit__rule_has_dots(rule) || any_tests(rule->body);
}

/* Whether all results of a rule have variables. */
static bool has_all(const ambit__rule *rule, ambit__pairs pairs)
{
  bool yes = ambit__pairs_begin(&pairs, rule);

  for (int i = 0; i < rule->nparams; i++)
    for (int c = 0; rule->params[i].kind == PARAM_FIELD && c < rule->params[i].components; c++)
      if (rule->params[i].writes[c]) yes = yes && ambit__pairs_result(&pairs, i, c) >= 0;
  ambit__pairs_end(&pairs);
  return yes;
}

/* The same, and nothing else is computed. */
static bool has_only(const ambit__rule *rule, ambit__pairs pairs)
{
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_REDUCE) return false;
  return has_all(rule, pairs);
}

bool ambit__rule_is_quads(const ambit__rule *rule)
{
  return has_only(rule, (ambit__pairs){.places = PLACES_QUADS});
}

bool ambit__rule_is_shorts(const ambit__rule *rule)
{
  return has_only(rule, (ambit__pairs){.places = PLACES_SHORTS, .minima = true});
}

bool ambit__rule_is_paired(const ambit__rule *rule, ambit__packed packed)
{
  return ambit__rule_is_quads(rule) || (packed == PACKED_SHORTS && ambit__rule_is_shorts(rule)) ||
         (has_all(rule, (ambit__pairs){.minima = packed >= PACKED_MINIMA}) &&
          (!packed || is_better_paired(rule)));
}
