/* SPDX-License-Identifier: BSD-3-Clause */
/* flags.c - integers that a nest sets where a condition holds.
 *
 *   if (x > tol) done = 0;   if (x > top) bits |= 4;         whether any cell does it
 *   moved |= x > tol;        all &= x < top;                 a truth value of each cell
 *   moved = moved || x > tol;   all = all && x < top;
 *
 * All of them are maxima of small numbers: a cell has 1, or 2 where both values of a condition
 * count. The assignment keeps what becomes of the variable: c if the maximum is 1, d if it is 2
 * (NULL: it is not).
 */
#include "nest.h"

#include <string.h>

static bool is_name(const node *e, const symbol *s)
{
  return e && e->kind == N_NAME && e->sym == s;
}

static bool names(node *e, void *user)
{
  return is_name(e, user);
}

/* Whether an expression is 0 or 1. */
static bool is_truth(node *e)
{
  static const char *const compare[] = {"<", ">", "<=", ">=", "==", "!=", "&&", "||"};

  e = port_bare(e);
  if (e->type == T_BOOL || (e->kind == N_UNARY && !strcmp(e->op, "!"))) return true;
  if (e->kind != N_BINARY) return false;
  if (!strcmp(e->op, "|") || !strcmp(e->op, "&")) return is_truth(e->a) && is_truth(e->b);
  for (size_t i = 0; i < sizeof compare / sizeof *compare; i++)
    if (!strcmp(e->op, compare[i])) return true;
  return false;
}

static bool is_number(const node *e)
{
  return (e->kind == N_UNARY && strchr("-~", e->op[0]) ? e->a : e)->is_constant;
}

static node *choose(node *condition, int64_t yes, int64_t no)
{
  node *e = port_node(N_COND, condition);

  e->a = condition;
  e->b = port_number(yes, condition);
  e->c = port_number(no, condition);
  e->type = T_I32;
  return e;
}

static node *is_not_zero(node *name)
{
  node *e = port_node(N_BINARY, name);

  e->op = "!=";
  e->a = port_copy_tree(name);
  e->b = port_number(0, name);
  e->type = T_I32;
  return e;
}

static bool make(node *e, const char *op, node *value, node *one, node *two)
{
  e->text = "max";
  e->op = op;
  e->b = value;
  e->c = one;
  e->d = two;
  return true;
}

/* s OP value. */
static bool joins(node *e, const char *op, node *value, node *name)
{
  if (strlen(op) == 1 && is_number(value))
    return make(e, op[0] == '|' ? "|=" : "&=", port_number(1, e), value, NULL);
  if (strlen(op) == 1 && !is_truth(value)) return false;
  if (!strcmp(op, "|")) return make(e, "|=", choose(value, 1, 0), port_number(1, e), NULL);
  if (!strcmp(op, "&"))
    return make(e, "&=", choose(value, 1, 2), port_number(1, e), port_number(0, e));
  if (!strcmp(op, "||"))
    return make(e, "=", choose(value, 2, 1), is_not_zero(name), port_number(1, e));
  return make(e, "=", choose(value, 1, 2), is_not_zero(name), port_number(0, e));
}

bool port_flag(node *e, symbol *s)
{
  node *v = e->b, *other;

  if (!is_name(e->a, s) || !port_is_integer(s->type)) return false;
  if (!strcmp(e->op, "|=") || !strcmp(e->op, "&="))
    return !port_find(v, names, s) && joins(e, e->op[0] == '|' ? "|" : "&", v, e->a);
  if (strcmp(e->op, "=")) return false;
  if (is_number(v)) return make(e, "=", port_number(1, e), v, NULL);
  if (v->kind != N_BINARY || !strchr("|&", v->op[0])) return false;
  other = is_name(v->a, s) ? v->b : v->a;
  if ((!is_name(v->a, s) && !is_name(v->b, s)) || port_find(other, names, s)) return false;
  return joins(e, v->op, other, e->a);
}
