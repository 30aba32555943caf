/* SPDX-License-Identifier: BSD-3-Clause */
/* red_black.c - rules that write a field in cells of one colour only, as in red-black relaxation.
 *
 * The colour of a cell is the parity of a sum: of its indices along some axes, and of terms that
 * are the same for all cells. A condition such as (index(0) + index(1) + step()) % 2 == k fixes it.
 * If every statement that writes a field is under conditions that fix the same colour, a cell of
 * the other colour keeps its value, and neighbours of the other colour can be read in place.
 */
#include "kernel/kernel.h"

/* Expressions to look at: locals of locals may stand for very long sums. */
enum { MOST_WORK = 2000 };

/* A sum modulo 2. */
typedef struct parity {
  unsigned axes;    /* bit d: index(d) is a term */
  unsigned extents; /* bit d: extent(d) is */
  uint32_t values;  /* bit i: parameter i is */
  bool step, one;   /* step() is, 1 is */
} parity;

typedef struct search {
  const ambit__rule *rule;
  int work;                 /* expressions looked at */
  int local, values;        /* whose values are looked for; so many were found, */
  const ambit__expr *value; /* ... the only one */
  int param;
  bool found, failed; /* a write of the parameter; one that breaks the rule */
  parity colour;      /* of the cells that are written: this sum is even in them */
} search;

static parity add(parity a, parity b)
{
  return (parity){.axes = a.axes ^ b.axes,
                  .extents = a.extents ^ b.extents,
                  .values = a.values ^ b.values,
                  .step = a.step != b.step,
                  .one = a.one != b.one};
}

static bool equal(parity a, parity b)
{
  return a.axes == b.axes && a.extents == b.extents && a.values == b.values && a.step == b.step &&
         a.one == b.one;
}

/* ---- locals ---- */

static ambit__visit note_value(void *user, const ambit__stmt *st)
{
  search *s = user;

  if ((st->kind != STMT_LOCAL && st->kind != STMT_SET_LOCAL) || st->index != s->local || !st->value)
    return VISIT_INSIDE;
  s->value = s->values++ ? NULL : st->value;
  return VISIT_INSIDE;
}

/* The expression that a local stands for wherever it has a value; NULL: there is none. */
static const ambit__expr *meaning(search *s, int local)
{
  if (++s->work > MOST_WORK) return NULL;
  s->local = local;
  s->values = 0;
  s->value = NULL;
  ambit__visit_stmts(&(ambit__visitor){.stmt = note_value, .user = s}, s->rule->body);
  return s->value;
}

/* ---- sums modulo 2 ---- */

/* Whether the remainder or the conjunction with a constant keeps the parity. */
static bool keeps_parity(const ambit__expr *e)
{
  if (e->b->op != EXPR_CONST) return false;
  return e->op == EXPR_AND ? e->b->value.integer & 1
                           : e->op == EXPR_MOD && e->b->value.integer && !(e->b->value.integer & 1);
}

static bool parity_of(search *s, const ambit__expr *e, parity *p)
{
  const ambit__expr *value;
  parity a = {0}, b = {0};

  *p = (parity){0};
  if (ambit__type_is_real(e->type) || ++s->work > MOST_WORK) return false;
  switch (e->op) {
  case EXPR_CONST: p->one = e->value.integer & 1; return true;
  case EXPR_INDEX: p->axes = 1u << e->index; return true;
  case EXPR_EXTENT: p->extents = 1u << e->index; return true;
  case EXPR_STEP: p->step = true; return true;
  case EXPR_VALUE: p->values = 1u << e->index; return true;
  case EXPR_LOCAL: value = meaning(s, e->index); return value && parity_of(s, value, p);
  case EXPR_CAST:
  case EXPR_NEG: return parity_of(s, e->a, p);
  case EXPR_AND:
  case EXPR_MOD: return keeps_parity(e) && parity_of(s, e->a, p);
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_XOR:
    if (!parity_of(s, e->a, &a) || !parity_of(s, e->b, &b)) return false;
    *p = add(a, b);
    return true;
  default: return false;
  }
}

/* ---- conditions ---- */

/* Whether an expression is 0 or 1; with `odd`, 0 or any odd number, such as x % 2. */
static bool is_bit(search *s, const ambit__expr *e, bool odd)
{
  const ambit__expr *value = e->op == EXPR_LOCAL ? meaning(s, e->index) : NULL;

  if (e->op == EXPR_LOCAL) return value && is_bit(s, value, odd);
  if (e->op == EXPR_CAST && !ambit__type_is_real(e->type) && !ambit__type_is_real(e->a->type))
    return is_bit(s, e->a, odd);
  if (e->op == EXPR_CONST) return e->value.integer == 0 || e->value.integer == 1;
  if (e->op != EXPR_AND && !(odd && e->op == EXPR_MOD)) return false;
  return e->b->op == EXPR_CONST && e->b->value.integer == (e->op == EXPR_AND ? 1 : 2);
}

static bool is_zero(const ambit__expr *e)
{
  return e->op == EXPR_CONST && !ambit__type_is_real(e->type) && e->value.integer == 0;
}

static bool fixes(search *s, const ambit__expr *e, bool holds, parity *p);

/* a == b: equal numbers have equal parities. a != b: different bits have different ones. */
static bool fixes_equal(search *s, const ambit__expr *e, bool are_equal, parity *p)
{
  parity a, b;

  if (ambit__type_is_real(e->a->type)) return false;
  if (is_zero(e->b) && fixes(s, e->a, !are_equal, p)) return true;
  if (!parity_of(s, e->a, &a) || !parity_of(s, e->b, &b)) return false;
  *p = add(a, b);
  if (are_equal) return p->axes != 0;
  p->one = !p->one;
  return p->axes && ((is_zero(e->b) && is_bit(s, e->a, true)) ||
                     (is_bit(s, e->a, false) && is_bit(s, e->b, false)));
}

/* Whether a condition, if it is true, or false, makes a sum with some index() even. */
static bool fixes(search *s, const ambit__expr *e, bool holds, parity *p)
{
  const ambit__expr *value = e->op == EXPR_LOCAL ? meaning(s, e->index) : NULL;

  if (value) return fixes(s, value, holds, p);
  if (e->op == EXPR_NOT) return fixes(s, e->a, !holds, p);
  if (e->op == EXPR_EQ || e->op == EXPR_NE)
    return fixes_equal(s, e, holds == (e->op == EXPR_EQ), p);
  if (e->op == (holds ? EXPR_LAND : EXPR_LOR))
    return fixes(s, e->a, holds, p) || fixes(s, e->b, holds, p);
  if ((holds && !is_bit(s, e, true)) || !parity_of(s, e, p)) return false;
  p->one = p->one != holds;
  return p->axes != 0;
}

/* ---- writes ---- */

static void note(search *s, const parity *colour)
{
  if (!colour || (s->found && !equal(s->colour, *colour))) s->failed = true;
  if (colour) s->colour = *colour;
  s->found = true;
}

/* *u = is_red ? x : *u is a write in red cells. */
static const ambit__expr *choice(const ambit__stmt *s)
{
  const ambit__expr *e = s->value;
  const bool keeps = e->op == EXPR_COND && e->c->op == EXPR_OUT && e->c->index == s->index &&
                     e->c->component == s->component;

  return keeps ? e->a : NULL;
}

/* `colour`: that the conditions around the statements fix; NULL: none. */
static void look(search *s, const ambit__stmt *list, const parity *colour)
{
  for (; list && !s->failed; list = list->next) {
    parity p;

    if (list->kind == STMT_IF) {
      look(s, list->body, !colour && fixes(s, list->value, true, &p) ? &p : colour);
      look(s, list->other, !colour && fixes(s, list->value, false, &p) ? &p : colour);
    } else if (list->kind == STMT_SET_OUT && list->index == s->param) {
      const ambit__expr *chosen = choice(list);

      note(s, !colour && chosen && fixes(s, chosen, true, &p) ? &p : colour);
    }
  }
}

bool ambit__rule_colour(const ambit__rule *rule, int param, unsigned *axes)
{
  search s = {.rule = rule, .param = param};

  look(&s, rule->body, NULL);
  *axes = s.colour.axes;
  return s.found && !s.failed;
}
