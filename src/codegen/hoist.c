/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/hoist.h"
#include "kernel/range.h"

/* ---- what can be hoisted ---- */

bool ambit__is_invariant(const ambit__rule *rule, const ambit__expr *e)
{
  return ambit__expr_once(rule, e) > 0;
}

/* The largest parts of an expression. */
static void find(ambit__hoists *h, const ambit__rule *rule, const ambit__expr *e)
{
  if (!e || e->op == EXPR_LOCAL || h->n == AMBIT__HOISTS) return;
  if (ambit__is_invariant(rule, e) && ambit__expr_calls(rule, e)) {
    h->locals[h->n] = -1;
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
    if (s->kind == STMT_LOCAL && rule->locals[s->index].is_shared && h->n < AMBIT__HOISTS) {
      h->locals[h->n] = s->index;
      h->values[h->n++] = s->value;
      continue;
    }
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
    if (h->values[i] == e || (e->op == EXPR_LOCAL && h->locals[i] == e->index)) return i;
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
