/* SPDX-License-Identifier: BSD-3-Clause */
/* visit.c - goes through expressions and statements. */
#include "kernel/kernel.h"

bool ambit__visit_expr(const ambit__visitor *v, const ambit__expr *e)
{
  ambit__visit what;

  if (!e) return false;
  what = v->expr(v->user, e);
  if (what != VISIT_INSIDE) return what == VISIT_END;
  return ambit__visit_expr(v, e->a) || ambit__visit_expr(v, e->b) || ambit__visit_expr(v, e->c);
}

bool ambit__visit_stmts(const ambit__visitor *v, const ambit__stmt *list)
{
  for (const ambit__stmt *s = list; s; s = s->next) {
    const ambit__visit what = v->stmt ? v->stmt(v->user, s) : VISIT_INSIDE;

    if (what == VISIT_END) return true;
    if (what == VISIT_PAST) continue;
    if ((v->expr && ambit__visit_expr(v, s->value)) || ambit__visit_stmts(v, s->body) ||
        ambit__visit_stmts(v, s->other))
      return true;
  }
  return false;
}
