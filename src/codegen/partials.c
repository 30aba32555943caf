/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/partials.h"

enum {
  PARTS = 4,       /* of a sum. D3Q19 on a Neoverse V1, from its caches: 1.2 times as fast */
  LEAST_TERMS = 8, /* shorter sums stay in one part */
  MOST_AHEAD = 200 /* statements looked at for the terms of a sum */
};

/* ---- terms ---- */

static ambit__visit find_local(void *user, const ambit__expr *e)
{
  return e->op == EXPR_LOCAL && e->index == *(int *)user ? VISIT_END : VISIT_INSIDE;
}

static bool mentions(const ambit__expr *e, int local)
{
  return ambit__visit_expr(&(ambit__visitor){.expr = find_local, .user = &local}, e);
}

/* The term that a statement x = x + term, or x = x - term, adds to a local; NULL: it does not. */
static const ambit__expr *term_of(const ambit__scope *s, const ambit__stmt *st)
{
  const ambit__expr *e = st->kind == STMT_SET_LOCAL ? st->value : NULL;

  if (!e || (e->op != EXPR_ADD && e->op != EXPR_SUB) || e->a->op != EXPR_LOCAL) return NULL;
  if (e->a->index != st->index || mentions(e->b, st->index) || ambit__emit_only_term(s, e))
    return NULL;
  return e->type == AMBIT_F32 || e->type == AMBIT_F64 ? e->b : NULL;
}

/* Whether a statement is x = x + 0 * term, which does nothing in relaxed code. */
static bool is_idle(const ambit__scope *s, const ambit__stmt *st)
{
  const ambit__expr *only = st->kind == STMT_SET_LOCAL ? ambit__emit_only_term(s, st->value) : NULL;

  return only && only->op == EXPR_LOCAL && only->index == st->index;
}

/* Whether a statement reads or sets a local. */
static bool uses(const ambit__stmt *st, int local)
{
  if (st->kind != STMT_SET_OUT && st->kind != STMT_IF && st->index == local) return true;
  if (mentions(st->value, local)) return true;
  for (const ambit__stmt *i = st->body; i; i = i->next)
    if (uses(i, local)) return true;
  for (const ambit__stmt *i = st->other; i; i = i->next)
    if (uses(i, local)) return true;
  return false;
}

/* Whether the terms of a sum, from a statement on, are so many that parts pay. */
static bool is_long(const ambit__scope *s, const ambit__stmt *st)
{
  const int local = st->index;
  int terms = 0;

  for (int i = 0; st && i < MOST_AHEAD && terms < LEAST_TERMS; st = st->next, i++)
    if (st->kind == STMT_SET_LOCAL && st->index == local && term_of(s, st))
      terms++;
    else if (uses(st, local) && !(st->index == local && is_idle(s, st)))
      break;
  return terms == LEAST_TERMS;
}

/* ---- sums ---- */

/* "x_", "x_part1": part 0 is the local itself. */
static void print_part(const ambit__scope *s, ambit__writer *w, int local, int first, int part)
{
  ambit__name_local(s, &w->text, local);
  if (part) ambit__print(&w->text, "part%d", first + part);
}

/* "x_ = (x_ + x_part1) + (x_part2 + x_part3);" */
static void add_up(const ambit__scope *s, ambit__writer *w, int local, int first)
{
  ambit__line_begin(w);
  print_part(s, w, local, first, 0);
  for (int i = 0; i < PARTS; i++) {
    ambit__print(&w->text, "%s", i == 0 ? " = (" : i == PARTS / 2 ? ") + (" : " + ");
    print_part(s, w, local, first, i);
  }
  ambit__line_end(w, ");");
}

void ambit__partials_close(const ambit__scope *s, ambit__writer *w, ambit__partials *p,
                           const ambit__stmt *st)
{
  for (int i = 0; i < p->n; i++) {
    const int local = p->sums[i].local;

    if (st && (!uses(st, local) || (st->index == local && (term_of(s, st) || is_idle(s, st)))))
      continue;
    add_up(s, w, local, p->sums[i].first);
    p->sums[i--] = p->sums[--p->n];
  }
}

/* The sum of a statement, which is opened if it is long; -1: there is none. */
static int sum_of(const ambit__scope *s, ambit__partials *p, const ambit__stmt *st)
{
  for (int i = 0; i < p->n; i++)
    if (p->sums[i].local == st->index) return i;
  if (p->n == AMBIT__SUMS_MOST || !is_long(s, st)) return -1;
  p->sums[p->n].local = st->index;
  p->sums[p->n].terms = 0;
  p->sums[p->n].first = p->parts;
  p->parts += PARTS - 1;
  return p->n++;
}

/* The first term of a part declares it. A sum that is open has at least LEAST_TERMS, so all parts
 * are declared before they are added up. */
bool ambit__partials_add(const ambit__scope *s, ambit__writer *w, ambit__partials *p,
                         const ambit__stmt *st)
{
  const ambit__expr *term = term_of(s, st);
  const int i = term ? sum_of(s, p, st) : -1;
  bool declares;

  if (i < 0) return false;
  declares = p->sums[i].terms && p->sums[i].terms < PARTS;
  ambit__line_begin(w);
  if (declares) ambit__print(&w->text, "%s ", s->dialect->types[term->type]);
  print_part(s, w, st->index, p->sums[i].first, p->sums[i].terms++ % PARTS);
  if (declares)
    ambit__print(&w->text, st->value->op == EXPR_ADD ? " = (" : " = -(");
  else
    ambit__print(&w->text, st->value->op == EXPR_ADD ? " += (" : " -= (");
  ambit__emit_expr(s, &w->text, term);
  ambit__line_end(w, ");");
  return true;
}
