/* SPDX-License-Identifier: BSD-3-Clause */
/* refine.c - facts about loop variables, from conditions.
 *
 * Inside `if (i > 0)` the variable i lies in [1, hi). Each loop has an interval here, narrowed by
 * the conditions around the current statement; accesses keep it, so that u[i - 1] is known to lie
 * inside. Conditions that failed are kept as clauses: after `if (i == 0 && j == 0) ... else if (i
 * == 0)`, j is not 0.
 */
#include "nest.h"

#include <stddef.h>
#include <string.h>

enum { CLAUSES = 32, FACTS = 8, SAVED = 64 };

/* lo <= variable of the loop < hi; either may be bad: not bounded by this. */
typedef struct fact {
  int loop;
  poly lo, hi;
} fact;

typedef struct clause {
  int n;
  fact facts[FACTS]; /* not all of them hold */
} clause;

static struct known {
  poly lo[LOOPS], hi[LOOPS]; /* bad: as the loop says */
  int nclauses;
  clause clauses[CLAUSES];
} now, saved[SAVED];
static int nsaved;

static void copy(struct known *to, const struct known *from)
{
  memcpy(to, from, offsetof(struct known, clauses) + (size_t)from->nclauses * sizeof(clause));
}

void port_refine_reset(void)
{
  now.nclauses = 0;
  for (int k = 0; k < LOOPS; k++)
    now.lo[k] = now.hi[k] = port_poly_bad();
  nsaved = 0;
}

bool port_refine_push(void)
{
  if (nsaved == SAVED) return false;
  copy(&saved[nsaved++], &now);
  return true;
}

void port_refine_pop(void)
{
  copy(&now, &saved[--nsaved]);
}

void port_refine_copy(const nest *n, poly **lo, poly **hi)
{
  *lo = port_new((size_t)n->nloops * sizeof **lo);
  *hi = port_new((size_t)n->nloops * sizeof **hi);
  for (int k = 0; k < n->nloops; k++) {
    (*lo)[k] = now.lo[k].is_bad ? n->loops[k].lo : now.lo[k];
    (*hi)[k] = now.hi[k].is_bad ? n->loops[k].hi : now.hi[k];
  }
}

/* ---- conditions as facts ---- */

const char *port_mirrored(const char *op)
{
  return !strcmp(op, "<")    ? ">"
         : !strcmp(op, ">")  ? "<"
         : !strcmp(op, "<=") ? ">="
         : !strcmp(op, ">=") ? "<="
                             : op;
}

static const char *negated(const char *op)
{
  return !strcmp(op, "<")    ? ">="
         : !strcmp(op, ">")  ? "<="
         : !strcmp(op, "<=") ? ">"
         : !strcmp(op, ">=") ? "<"
         : !strcmp(op, "==") ? "!="
                             : "==";
}

/* One comparison of a loop variable with something steady. */
static bool comparison(nest *n, node *c, bool is_true, fact *f)
{
  poly d, r, factor;
  const char *op;
  int64_t x;

  while (c->kind == N_UNARY && !strcmp(c->op, "!")) {
    c = c->a;
    is_true = !is_true;
  }
  if (c->kind != N_BINARY || !strchr("<>=!", c->op[0]) || !strcmp(c->op, "<<") ||
      !strcmp(c->op, ">>"))
    return false;
  op = is_true ? c->op : negated(c->op);
  d = port_poly_sub(port_poly_of(n, c->a), port_poly_of(n, c->b)); /* op 0 */
  if (d.is_bad) return false;
  f->loop = -1;
  f->lo = f->hi = port_poly_bad();
  for (int k = 0; k < n->nloops; k++) {
    if (!port_poly_has(d, n->loops[k].atom)) continue;
    if (f->loop >= 0) return false;
    f->loop = k;
  }
  if (f->loop < 0 || !port_poly_split(d, n->loops[f->loop].atom, &factor, &r) ||
      !port_poly_is_number(factor, &x) || (x != 1 && x != -1))
    return false;
  if (x == 1)
    r = port_poly_sub(port_poly_number(0), r); /* i op r */
  else
    op = port_mirrored(op); /* r - i op 0: i mirrored(op) r */
  if (!strcmp(op, "<")) f->hi = r;
  if (!strcmp(op, "<=")) f->hi = port_poly_add(r, port_poly_number(1));
  if (!strcmp(op, ">=")) f->lo = r;
  if (!strcmp(op, ">")) f->lo = port_poly_add(r, port_poly_number(1));
  if (!strcmp(op, "==")) {
    f->lo = r;
    f->hi = port_poly_add(r, port_poly_number(1));
  }
  if (!strcmp(op, "!=")) { /* at an end of the known range */
    const poly lo = now.lo[f->loop].is_bad ? n->loops[f->loop].lo : now.lo[f->loop];
    const poly hi = now.hi[f->loop].is_bad ? n->loops[f->loop].hi : now.hi[f->loop];

    if (port_poly_equal(r, lo))
      f->lo = port_poly_add(r, port_poly_number(1));
    else if (port_poly_equal(port_poly_add(r, port_poly_number(1)), hi))
      f->hi = r;
    else
      return false;
  }
  return true;
}

static int conjunction(nest *n, node *c, bool is_true, fact *facts, int most, bool *is_whole)
{
  const char *both = is_true ? "&&" : "||";
  int count;

  if (c->kind == N_BINARY && !strcmp(c->op, both)) {
    count = conjunction(n, c->a, is_true, facts, most, is_whole);
    return count + conjunction(n, c->b, is_true, facts + count, most - count, is_whole);
  }
  if (most > 0 && comparison(n, c, is_true, facts)) return 1;
  *is_whole = false;
  return 0;
}

/* ---- narrowing ---- */

static bool at_least(poly a, poly b)
{
  int64_t x;

  return port_poly_is_number(port_poly_sub(a, b), &x) && x >= 0;
}

static void narrow(nest *n, const fact *f)
{
  poly *lo = &now.lo[f->loop], *hi = &now.hi[f->loop];

  if (!f->lo.is_bad &&
      (lo->is_bad ? !at_least(n->loops[f->loop].lo, f->lo) : !at_least(*lo, f->lo)))
    *lo = f->lo;
  if (!f->hi.is_bad &&
      (hi->is_bad ? !at_least(f->hi, n->loops[f->loop].hi) : !at_least(f->hi, *hi)))
    *hi = f->hi;
}

/* Whether a fact follows from the known ones. */
static bool holds(const nest *n, const fact *f)
{
  const poly lo = now.lo[f->loop].is_bad ? n->loops[f->loop].lo : now.lo[f->loop];
  const poly hi = now.hi[f->loop].is_bad ? n->loops[f->loop].hi : now.hi[f->loop];

  return (f->lo.is_bad || at_least(lo, f->lo)) && (f->hi.is_bad || at_least(f->hi, hi));
}

/* A fact that does not hold, where that is an interval again. */
static bool denied(const nest *n, const fact *f, fact *out)
{
  const poly lo = now.lo[f->loop].is_bad ? n->loops[f->loop].lo : now.lo[f->loop];
  const poly hi = now.hi[f->loop].is_bad ? n->loops[f->loop].hi : now.hi[f->loop];

  *out = (fact){f->loop, port_poly_bad(), port_poly_bad()};
  if (f->lo.is_bad || at_least(lo, f->lo))
    out->lo = f->hi; /* it was at the low end */
  else if (f->hi.is_bad || at_least(f->hi, hi))
    out->hi = f->lo;
  return !out->lo.is_bad || !out->hi.is_bad;
}

static void resolve_clauses(nest *n)
{
  for (int rounds = 0; rounds < 3; rounds++)
    for (int i = 0; i < now.nclauses; i++) {
      const clause *c = &now.clauses[i];
      int open = -1, count = 0;
      fact f;

      for (int k = 0; k < c->n; k++)
        if (!holds(n, &c->facts[k])) {
          open = k;
          count++;
        }
      if (count == 1 && denied(n, &c->facts[open], &f)) narrow(n, &f);
    }
}

void port_refine_condition(nest *n, node *condition, bool is_true)
{
  fact facts[FACTS];
  bool is_whole = true;
  int count = conjunction(n, condition, is_true, facts, FACTS, &is_whole);

  for (int i = 0; i < count; i++)
    narrow(n, &facts[i]);
  if (!is_true && condition->kind == N_BINARY && !strcmp(condition->op, "&&") &&
      now.nclauses < CLAUSES) {
    clause *c = &now.clauses[now.nclauses];

    is_whole = true;
    c->n = conjunction(n, condition, true, c->facts, FACTS, &is_whole);
    if (is_whole && c->n) now.nclauses++;
  }
  resolve_clauses(n);
}
