/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/hoist.h"
#include "kernel/range.h"

enum { NESTED = 64 }; /* levels of an expression and of the locals in it */

/* ---- what can be hoisted ---- */

static bool is_invariant(const ambit__rule *rule, const ambit__expr *e, int depth)
{
  const ambit__expr *value;

  if (depth > NESTED || e->is_outside) return false;
  switch (e->op) {
  case EXPR_CONST:
  case EXPR_VALUE:
  case EXPR_STEP: return true;
  case EXPR_LOCAL:
    value = ambit__only_value(rule, e->index);
    return value && is_invariant(rule, value, depth + 1);
  case EXPR_READ:
  case EXPR_OUT:
  case EXPR_INDEX:
  case EXPR_EXTENT:
  case EXPR_NORMAL:
  case EXPR_TABLE: return false;
  default:
    return (!e->a || is_invariant(rule, e->a, depth + 1)) &&
           (!e->b || is_invariant(rule, e->b, depth + 1)) &&
           (!e->c || is_invariant(rule, e->c, depth + 1));
  }
}

bool ambit__is_invariant(const ambit__rule *rule, const ambit__expr *e)
{
  return is_invariant(rule, e, 0);
}

/* Calls in an expression, and in the locals that it uses. */
static bool has_calls(const ambit__rule *rule, const ambit__expr *e)
{
  if (!e) return false;
  if (e->op == EXPR_LOCAL) return has_calls(rule, ambit__only_value(rule, e->index));
  return e->op == EXPR_CALL || has_calls(rule, e->a) || has_calls(rule, e->b) ||
         has_calls(rule, e->c);
}

/* The largest parts of an expression. */
static void find(ambit__hoists *h, const ambit__rule *rule, const ambit__expr *e)
{
  if (!e || e->op == EXPR_LOCAL || h->n == AMBIT__HOISTS) return;
  if (ambit__is_invariant(rule, e) && has_calls(rule, e)) {
    h->values[h->n++] = e;
    return;
  }
  find(h, rule, e->a);
  find(h, rule, e->b);
  find(h, rule, e->c);
}

static void walk(ambit__hoists *h, const ambit__rule *rule, const ambit__stmt *list)
{
  for (const ambit__stmt *s = list; s; s = s->next) {
    find(h, rule, s->value);
    walk(h, rule, s->body);
    walk(h, rule, s->other);
  }
}

void ambit__hoists_begin(ambit__hoists *h, const ambit__rule *rule)
{
  *h = (ambit__hoists){0};
  walk(h, rule, rule->body);
}

int ambit__hoists_find(const ambit__hoists *h, const ambit__expr *e)
{
  for (int i = 0; i < h->n; i++)
    if (h->values[i] == e) return i;
  return -1;
}

/* ---- text ---- */

/* A local, which is not declared yet: its value. */
static bool print_value(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  if (e->op != EXPR_LOCAL) return false;
  ambit__print(t, "(");
  ambit__emit_expr(s, t, ambit__only_value(s->rule, e->index));
  ambit__print(t, ")");
  return true;
}

void ambit__hoists_emit(const ambit__hoists *h, const ambit__scope *s, ambit__writer *w)
{
  ambit__scope before = *s;

  before.hoists = NULL;
  before.narrow = NULL;
  before.instead = print_value;
  for (int i = 0; i < h->n; i++) {
    ambit__line_begin(w);
    ambit__print(&w->text, "const %s once%d = ", s->dialect->types[h->values[i]->type], i);
    ambit__emit_expr(&before, &w->text, h->values[i]);
    ambit__line_end(w, ";");
  }
}
