/* SPDX-License-Identifier: BSD-3-Clause */
/* linear.c - sums of neighbours as linear forms.
 *
 * Out of strict mode a sum of values of fields becomes terms with coefficients: numbers, or values
 * that all cells share, which are polynomials in parameters and the like. So
 *
 *   u + k * (u[-1] + u[1] - 2 * u)   and   (1 - 2 * k) * u + k * u[-1] + k * u[1]
 *
 * are one rule: a local that is computed once, s = 1 - 2 * k, and k * (u[-1] + u[1]) + s * u. Terms
 * whose coefficients differ in the sign alone are added first: differences of equal values are 0.
 *
 *   1. versions: a local that is assigned again gets another name, so that each has one value;
 *   2. uses:     locals that are used once are parts of the sums that use them;
 *   3. sums:     the largest sums become forms, if they read a field at two cells or more and take
 *                no more operations than before; what is not linear is a term as a whole.
 *
 * Reals are not associative: results differ in the last bits, and a sum whose terms cancel may not
 * be exactly 0.
 */
#include "base/hash.h"
#include "base/index.h"
#include "kernel/coefficient.h"
#include "kernel/range.h"
#include "kernel/rewrite.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ambit__rewriting work;
typedef ambit__expr expr;

enum { TERMS = 512, NESTED = 64 };

typedef ambit__coefficient_product product;
typedef ambit__coefficient poly;

typedef struct term {
  const expr *value; /* NULL: 1 */
  poly by;
  int group; /* the first of the terms whose coefficients have the size of its own */
} term;

typedef struct sum {
  int n;
  term *terms; /* TERMS of them; owned */
  int operations;
  int ninlined;
  int inlined[NESTED]; /* locals that are parts of it */
} sum;

/* A local, or a version of one. */
typedef struct variable {
  int uses;
  int origin;       /* the local that it is a version of; itself: of none */
  int now;          /* its latest version */
  int nversions;    /* the next number for a name */
  bool branches;    /* assigned under a condition: it has no versions */
  bool gone;        /* part of a sum */
  bool split;       /* some version of it is gone */
  bool long_sum;    /* its value is a sum of too many terms; so is a sum that contains it */
  const expr *only; /* its value, if that may be moved; else NULL */
} variable;

typedef struct linear {
  work *w;
  variable *locals;
  int nshared;
  struct {
    poly by;
    int local;
  } * shared;                       /* coefficients that have locals; TERMS of them */
  const ambit__stmt *first, **tail; /* their declarations */
  const ambit__stmt *now;           /* the statement that is rewritten */
  bool any;                         /* some sum has changed */
  ambit__index names;               /* hashes of names that are taken */
} linear;

static const expr *rewrite(linear *l, const expr *e);

/* ---- coefficients ---- */

/* Whether an expression has the same value in all cells; any type. */
static bool is_shared(const linear *l, const expr *e, int depth)
{
  if (!e) return true;
  if (depth > NESTED || e->is_outside) return false;
  switch (e->op) {
  case EXPR_CONST:
  case EXPR_VALUE: return true;
  case EXPR_LOCAL:
    return l->locals[e->index].only && is_shared(l, l->locals[e->index].only, depth + 1);
  case EXPR_READ:
  case EXPR_OUT:
  case EXPR_INDEX:
  case EXPR_EXTENT:
  case EXPR_STEP:
  case EXPR_NORMAL:
  case EXPR_TABLE: return false;
  default:
    return is_shared(l, e->a, depth + 1) && is_shared(l, e->b, depth + 1) &&
           is_shared(l, e->c, depth + 1);
  }
}

/* An expression of parameters alone: locals are replaced by their values. */
static const expr *expanded(linear *l, const expr *e)
{
  if (!e) return NULL;
  if (e->op == EXPR_LOCAL) return expanded(l, l->locals[e->index].only);
  return ambit__rewriting_with(l->w, e, expanded(l, e->a), expanded(l, e->b), expanded(l, e->c));
}

/* The coefficient that an expression is; false: it is none. */
static bool find_poly(linear *l, const expr *e, int depth, poly *to)
{
  ambit__value v;
  poly a, b;

  if (!ambit__type_is_real(e->type)) return false;
  if (e->op == EXPR_CONST || ambit__table_element(l->w->to, e, &v)) {
    *to = ambit__coefficient_number(e->op == EXPR_CONST ? e->value.real : v.real);
    return isfinite(e->op == EXPR_CONST ? e->value.real : v.real);
  }
  if (!is_shared(l, e, depth)) return false;
  switch (e->op) {
  case EXPR_LOCAL: return find_poly(l, l->locals[e->index].only, depth + 1, to);
  case EXPR_NEG:
    *to = ambit__coefficient_number(0);
    return find_poly(l, e->a, depth + 1, &a) && ambit__coefficient_add(to, &a, -1);
  case EXPR_ADD:
  case EXPR_SUB:
    return find_poly(l, e->a, depth + 1, to) && find_poly(l, e->b, depth + 1, &b) &&
           ambit__coefficient_add(to, &b, e->op == EXPR_ADD ? 1 : -1);
  case EXPR_MUL:
    return find_poly(l, e->a, depth + 1, &a) && find_poly(l, e->b, depth + 1, &b) &&
           ambit__coefficient_multiply(&a, &b, to);
  case EXPR_DIV:
    if (!find_poly(l, e->a, depth + 1, &a) || !find_poly(l, e->b, depth + 1, &b)) return false;
    if (b.n > 1) {
      b = ambit__coefficient_atom(expanded(l, e->b), -1);
    } else {
      if (!b.n) return false;
      ambit__coefficient_invert(&b);
    }
    return ambit__coefficient_multiply(&a, &b, to);
  default: *to = ambit__coefficient_atom(expanded(l, e), 1); return true;
  }
}

/* ---- forms ---- */

static bool add_term(sum *s, const expr *value, const poly *by, double times)
{
  for (int i = 0; i < s->n; i++)
    if (!ambit__expr_compare(s->terms[i].value, value))
      return ambit__coefficient_add(&s->terms[i].by, by, times);
  if (s->n == TERMS) return false;
  s->terms[s->n] = (term){.value = value};
  return ambit__coefficient_add(&s->terms[s->n++].by, by, times);
}

/* Adds an expression, times a coefficient. */
static bool add_expr(linear *l, sum *s, const expr *e, const poly *by, double times, int depth)
{
  const expr *only;
  poly p, q;

  if (depth > NESTED) return false;
  while (e->op == EXPR_ADD || e->op == EXPR_SUB) { /* sums nest to the left */
    s->operations++;
    if (!add_expr(l, s, e->b, by, e->op == EXPR_ADD ? times : -times, depth + 1)) return false;
    e = e->a;
  }
  only = e->op == EXPR_LOCAL ? l->locals[e->index].only : NULL;
  if (find_poly(l, e, depth, &p))
    return ambit__coefficient_multiply(by, &p, &q) && add_term(s, NULL, &q, times);
  switch (e->op) {
  case EXPR_LOCAL:
    if (only && only->op == EXPR_READ && only->type == e->type) return add_term(s, only, by, times);
    if (!only || l->locals[e->index].uses > 1 || s->ninlined == NESTED)
      return add_term(s, e, by, times);
    if (l->locals[e->index].long_sum) return false;
    s->inlined[s->ninlined++] = e->index;
    return add_expr(l, s, only, by, times, depth + 1);
  case EXPR_NEG: return add_expr(l, s, e->a, by, -times, depth + 1);
  case EXPR_MUL:
    s->operations++;
    if (find_poly(l, e->a, depth, &p))
      return ambit__coefficient_multiply(by, &p, &q) && add_expr(l, s, e->b, &q, times, depth + 1);
    if (find_poly(l, e->b, depth, &p))
      return ambit__coefficient_multiply(by, &p, &q) && add_expr(l, s, e->a, &q, times, depth + 1);
    s->operations--;
    return add_term(s, e, by, times);
  case EXPR_DIV:
    if (!find_poly(l, e->b, depth, &p) || p.n != 1) return add_term(s, e, by, times);
    ambit__coefficient_invert(&p);
    s->operations++;
    return ambit__coefficient_multiply(by, &p, &q) && add_expr(l, s, e->a, &q, times, depth + 1);
  default: return add_term(s, e, by, times);
  }
}

static const expr *read_of(const expr *e)
{
  if (e && e->op == EXPR_CAST && ambit__type_is_real(e->a->type)) e = e->a;
  return e && e->op == EXPR_READ ? e : NULL;
}

/* Whether a field is read in two cells. */
static bool is_stencil(const sum *s)
{
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < i; k++) {
      const expr *a = read_of(s->terms[i].value), *b = read_of(s->terms[k].value);

      if (a && b && a->index == b->index && a->component == b->component) return true;
    }
  return false;
}

static int compare_terms(const void *a, const void *b)
{
  return ambit__expr_compare(((const term *)a)->value, ((const term *)b)->value);
}

static bool have_one_size(const term *a, const term *b)
{
  return !a->value == !b->value &&
         !ambit__coefficient_compare(
             &a->by, &b->by, ambit__coefficient_sign(&a->by) * ambit__coefficient_sign(&b->by));
}

static void find_groups(sum *s)
{
  for (int i = 0; i < s->n; i++) {
    int k = 0;

    s->terms[i].group = i;
    while (s->terms[k].group != k || !have_one_size(&s->terms[k], &s->terms[i]))
      k++;
    s->terms[i].group = k;
  }
}

/* Additions and multiplications per cell. */
static int count_operations(const sum *s)
{
  int n = s->n - 1;

  for (int i = 0; i < s->n; i++) {
    poly size = {0};

    if (s->terms[i].group != i || !s->terms[i].value) continue;
    ambit__coefficient_add(&size, &s->terms[i].by, ambit__coefficient_sign(&s->terms[i].by));
    n += !ambit__coefficient_is_one(&size);
  }
  return n;
}

/* ---- text ---- */

static const expr *real_number(linear *l, const expr *like, double x)
{
  const double rounded = like->type == AMBIT_F32 ? (double)(float)x : x;

  if (!isfinite(rounded) || fabs(rounded) < (like->type == AMBIT_F32 ? FLT_MIN : DBL_MIN))
    l->w->failed = true; /* the caller gives up */
  return ambit__rewriting_number(l->w, like, like->type, (ambit__value){.real = rounded});
}

static const expr *both(linear *l, const expr *like, ambit__op op, const expr *a, const expr *b)
{
  if (!a) return b;
  return ambit__rewriting_make(l->w, like, op, like->type, a, b);
}

static const expr *write_product(linear *l, const expr *like, const product *p, double number)
{
  const expr *up = NULL, *down = NULL;

  for (int i = 0; i < p->n; i++)
    for (int k = 0; k < abs(p->powers[i]); k++) {
      const expr **to = p->powers[i] > 0 ? &up : &down;

      *to = both(l, like, EXPR_MUL, *to, p->atoms[i]);
    }
  if (number != 1 || !up)
    up = up ? both(l, like, EXPR_MUL, real_number(l, like, number), up)
            : real_number(l, like, number);
  return down ? both(l, like, EXPR_DIV, up, down) : up;
}

static const expr *write_poly(linear *l, const expr *like, const poly *p)
{
  const expr *e = NULL;

  for (int i = 0; i < p->n; i++) {
    const double number = p->p[i].number;

    if (e && number < 0)
      e = both(l, like, EXPR_SUB, e, write_product(l, like, &p->p[i], -number));
    else
      e = both(l, like, EXPR_ADD, e, write_product(l, like, &p->p[i], number));
  }
  return e;
}

/* false: it is taken, or another one with its hash. */
static bool take_name(linear *l, const char *name)
{
  ambit__hash h;
  size_t at = 0;

  ambit__hash_init(&h);
  ambit__hash_text(&h, name);
  if (ambit__index_next(&l->names, h.w[0], &at) >= 0) return false;
  if (ambit__index_add(l->w->errors, &l->names, h.w[0], 0) != AMBIT_OK)
    l->w->starved = l->w->failed = true;
  return true;
}

static void take_names(linear *l)
{
  const ambit__rule *r = l->w->to;

  for (int i = 0; i < r->nlocals; i++)
    take_name(l, r->locals[i].name);
  for (int i = 0; i < r->nparams; i++)
    take_name(l, r->params[i].name);
  for (int i = 0; i < r->ntables; i++)
    take_name(l, r->tables[i].name);
}

/* A name for a local: the given one if *number is 0, or with the first free number from there. */
static const char *unused_name(linear *l, const char *name, int *number)
{
  char text[280];

  do {
    snprintf(text, sizeof text, *number ? "%.240s_%d" : "%.240s", name, *number);
    ++*number;
  } while (!take_name(l, text));
  name = ambit__arena_strndup(&l->w->to->arena, text, strlen(text));
  l->w->starved |= !name;
  l->w->failed = l->w->failed || !name;
  return name;
}

/* Declares the local of a coefficient. */
static int declare(linear *l, const expr *like, const poly *p)
{
  ambit__rule *to = l->w->to;
  ambit__stmt *s = ambit__rewriting_take(l->w, sizeof *s);
  const int local = to->nlocals;
  char name[32];
  int number = 0;

  if (!s) return -1;
  snprintf(name, sizeof name, "shared%d", l->nshared);
  *s = (ambit__stmt){.kind = STMT_LOCAL, .place = like->place, .index = local};
  s->value = write_poly(l, like, p);
  to->locals[local] =
      (ambit__local){.name = unused_name(l, name, &number), .type = like->type, .is_shared = true};
  to->nlocals++;
  l->locals[local] = (variable){.origin = local, .now = local};
  *l->tail = s;
  l->tail = &s->next;
  return local;
}

/* A coefficient as a number, a parameter or a local. */
static const expr *write_coefficient(linear *l, const expr *like, const poly *p)
{
  int i = 0;
  expr *e;

  if (p->n == 1 && p->p[0].n == 0) return real_number(l, like, p->p[0].number);
  if (p->n == 1 && p->p[0].n == 1 && p->p[0].number == 1 && p->p[0].powers[0] == 1 &&
      p->p[0].atoms[0]->op == EXPR_VALUE)
    return p->p[0].atoms[0];
  while (i < l->nshared && (ambit__coefficient_compare(&l->shared[i].by, p, 1) ||
                            l->w->to->locals[l->shared[i].local].type != like->type))
    i++;
  if (i == TERMS) return NULL;
  if (i == l->nshared) {
    l->shared[i].by = *p;
    l->shared[i].local = declare(l, like, p);
    if (l->w->failed) return NULL;
    l->nshared++;
  }
  e = (expr *)ambit__rewriting_make(l->w, like, EXPR_LOCAL, like->type, NULL, NULL);
  if (e != like) e->index = l->shared[i].local;
  return e;
}

/* Adds the terms of a group to an expression: to + coefficient * (a + b - c). */
static const expr *write_group(linear *l, const expr *like, const sum *s, int group, const expr *to)
{
  const expr *inner = NULL, *value;
  poly size = {0};
  double first = 0;
  bool one;

  ambit__coefficient_add(&size, &s->terms[group].by, ambit__coefficient_sign(&s->terms[group].by));
  one = ambit__coefficient_is_one(&size);
  for (int pass = 0; pass < 2; pass++) /* terms that are added before those that are subtracted */
    for (int i = 0; i < s->n && !l->w->failed; i++) {
      const double sign = ambit__coefficient_sign(&s->terms[i].by);

      if (!s->terms[i].value || s->terms[i].group != group || (sign > 0) == pass) continue;
      value = rewrite(l, s->terms[i].value);
      if (first == 0) first = sign;
      if (one && to && !inner)
        inner = both(l, like, sign > 0 ? EXPR_ADD : EXPR_SUB, to, value);
      else if (one && !inner && sign < 0)
        inner = ambit__rewriting_make(l->w, like, EXPR_NEG, like->type, value, NULL);
      else
        inner = both(l, like, sign == (one ? 1 : first) ? EXPR_ADD : EXPR_SUB, inner, value);
    }
  if (one) return inner;
  inner = both(l, like, EXPR_MUL, write_coefficient(l, like, &size), inner);
  if (to) return both(l, like, first > 0 ? EXPR_ADD : EXPR_SUB, to, inner);
  return first > 0 ? inner : ambit__rewriting_make(l->w, like, EXPR_NEG, like->type, inner, NULL);
}

/* Groups with a positive term first: no negation is needed then. */
static const expr *write_sum(linear *l, const expr *like, const sum *s)
{
  bool positive[TERMS] = {0}; /* by the first term of a group */
  const expr *e = NULL;

  for (int i = 0; i < s->n; i++)
    if (ambit__coefficient_sign(&s->terms[i].by) > 0) positive[s->terms[i].group] = true;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < s->n && !l->w->failed; i++)
      if (s->terms[i].value && s->terms[i].group == i && positive[i] == !pass)
        e = write_group(l, like, s, i, e);
  for (int i = 0; i < s->n && !l->w->failed; i++)
    if (!s->terms[i].value)
      e = both(l, like, EXPR_ADD, e, write_coefficient(l, like, &s->terms[i].by));
  return e;
}

/* The form of a sum; NULL: it stays as it is. */
static const expr *find_sum(linear *l, const expr *e)
{
  const poly one = ambit__coefficient_number(1);
  sum s = {.terms = malloc(TERMS * sizeof *s.terms)};
  const int nshared = l->nshared;
  const expr *to = NULL;
  int n = 0;

  l->w->starved |= !s.terms;
  if (s.terms && add_expr(l, &s, e, &one, 1, 0)) {
    for (int i = 0; i < s.n; i++)
      if (s.terms[i].by.n) s.terms[n++] = s.terms[i];
    s.n = n;
    qsort(s.terms, (size_t)s.n, sizeof *s.terms, compare_terms);
    find_groups(&s);
    if (is_stencil(&s) && count_operations(&s) <= s.operations) to = write_sum(l, e, &s);
  } else if (l->now->kind == STMT_LOCAL && e == l->now->value) {
    l->locals[l->now->index].long_sum = true;
  }
  if (l->w->failed || !to) l->nshared = nshared;
  for (int i = 0; to && i < s.ninlined; i++)
    l->locals[s.inlined[i]].gone = true;
  free(s.terms);
  return to;
}

static const expr *rewrite(linear *l, const expr *e)
{
  const bool is_sum = e && (e->type == AMBIT_F32 || e->type == AMBIT_F64) &&
                      ((e->op >= EXPR_ADD && e->op <= EXPR_DIV) || e->op == EXPR_NEG);
  const expr *to = is_sum && !l->w->failed ? find_sum(l, e) : NULL;

  if (!e || l->w->failed) return e;
  if (to) {
    l->any = true;
    return to;
  }
  return ambit__rewriting_with(l->w, e, rewrite(l, e->a), rewrite(l, e->b), rewrite(l, e->c));
}

/* ---- versions of locals, and their uses ---- */

static void mark_branches(linear *l, const ambit__stmt *s, bool inside)
{
  for (; s; s = s->next) {
    if (inside && (s->kind == STMT_LOCAL || s->kind == STMT_SET_LOCAL))
      l->locals[s->index].branches = true;
    mark_branches(l, s->body, true);
    mark_branches(l, s->other, true);
  }
}

/* With the latest versions of locals, or with `back`, with the locals themselves. */
static const expr *renamed(linear *l, const expr *e, bool back)
{
  expr *copy;
  int to;

  if (!e || l->w->failed) return e;
  if (e->op != EXPR_LOCAL)
    return ambit__rewriting_with(l->w, e, renamed(l, e->a, back), renamed(l, e->b, back),
                                 renamed(l, e->c, back));
  to = back ? l->locals[e->index].origin : l->locals[e->index].now;
  if (to == e->index || (back && l->locals[to].split)) return e;
  copy = ambit__rewriting_take(l->w, sizeof *copy);
  if (!copy) return e;
  *copy = *e;
  copy->index = to;
  return copy;
}

static void new_version(linear *l, ambit__stmt *s)
{
  ambit__rule *r = l->w->to;
  const int origin = s->index, version = r->nlocals;

  r->locals[version] =
      (ambit__local){.name = unused_name(l, r->locals[origin].name, &l->locals[origin].nversions),
                     .type = r->locals[origin].type};
  r->nlocals++;
  l->locals[version] = (variable){.origin = origin, .now = version};
  l->locals[origin].now = version;
  s->kind = STMT_LOCAL;
  s->index = version;
}

/* Copies statements, in which each local outside conditions has one value. */
static ambit__stmt *make_versions(linear *l, const ambit__stmt *list, bool inside)
{
  ambit__stmt *first = NULL, *last = NULL;

  for (const ambit__stmt *s = list; s && !l->w->failed; s = s->next) {
    ambit__stmt *copy = ambit__rewriting_take(l->w, sizeof *copy);

    if (!copy) break;
    *copy = *s;
    copy->next = NULL;
    copy->value = renamed(l, s->value, false);
    copy->body = make_versions(l, s->body, true);
    copy->other = make_versions(l, s->other, true);
    if (s->kind == STMT_SET_LOCAL && !inside && !l->locals[s->index].branches) new_version(l, copy);
    if (last)
      last->next = copy;
    else
      first = copy;
    last = copy;
  }
  return first;
}

/* Whether a value is the same wherever it is computed. */
static bool may_move(const linear *l, const expr *e)
{
  if (!e) return true;
  if (e->op == EXPR_OUT) return false;
  if (e->op == EXPR_LOCAL) return l->locals[e->index].only != NULL;
  return may_move(l, e->a) && may_move(l, e->b) && may_move(l, e->c);
}

static void count_uses(linear *l, const expr *e)
{
  if (!e) return;
  if (e->op == EXPR_LOCAL) l->locals[e->index].uses++;
  count_uses(l, e->a);
  count_uses(l, e->b);
  count_uses(l, e->c);
}

static void examine(linear *l, const ambit__stmt *s)
{
  for (; s; s = s->next) {
    count_uses(l, s->value);
    if (s->kind == STMT_LOCAL && s->value && !l->locals[s->index].branches && may_move(l, s->value))
      l->locals[s->index].only = s->value;
    examine(l, s->body);
    examine(l, s->other);
  }
}

/* Marks locals that nothing uses any more; false: there are none. */
static bool drop_unused(linear *l, const ambit__stmt *s)
{
  bool any = false;

  for (; s; s = s->next) {
    variable *v = s->kind == STMT_LOCAL ? &l->locals[s->index] : NULL;

    if (!v || v->gone || !v->only || v->uses) continue;
    v->gone = any = true;
  }
  return any;
}

static void count_remaining(linear *l, const ambit__stmt *s)
{
  for (; s; s = s->next) {
    if (s->kind != STMT_LOCAL || !l->locals[s->index].gone) count_uses(l, s->value);
    count_remaining(l, s->body);
    count_remaining(l, s->other);
  }
}

/* ---- all ---- */

static void rewrite_all(linear *l, ambit__stmt *s)
{
  for (; s && !l->w->failed; s = (ambit__stmt *)s->next) {
    if (s->kind == STMT_LOCAL && l->locals[s->index].gone) continue;
    l->now = s;
    s->value = rewrite(l, s->value);
    rewrite_all(l, (ambit__stmt *)s->body);
    rewrite_all(l, (ambit__stmt *)s->other);
  }
}

/* Without the locals that are parts of sums; locals of which no version is have one name again. */
static const ambit__stmt *cleaned(linear *l, const ambit__stmt *list)
{
  const ambit__stmt *first = NULL, **tail = &first;

  for (ambit__stmt *s = (ambit__stmt *)list; s; s = (ambit__stmt *)s->next) {
    const bool sets = s->kind == STMT_LOCAL || s->kind == STMT_SET_LOCAL;
    const int origin = sets ? l->locals[s->index].origin : 0;

    if (sets &&
        (l->locals[s->index].gone || (l->locals[origin].split && origin == s->index && !s->value)))
      continue;
    if (sets && origin != s->index && !l->locals[origin].split) {
      s->kind = STMT_SET_LOCAL;
      s->index = origin;
    }
    s->value = renamed(l, s->value, true);
    s->body = cleaned(l, s->body);
    s->other = cleaned(l, s->other);
    *tail = s;
    tail = &s->next;
  }
  *tail = NULL;
  return first;
}

static int64_t flops_of(const linear *l, const expr *e)
{
  int64_t n;

  if (!e) return 0;
  n = flops_of(l, e->a) + flops_of(l, e->b) + flops_of(l, e->c);
  if (!ambit__type_is_real(e->type)) return n;
  if (e->op == EXPR_CALL) return n + (e->call == CALL_fabs ? 0 : e->call == CALL_fma ? 2 : 1);
  return n + (e->op >= EXPR_ADD && e->op <= EXPR_DIV);
}

static int64_t count_flops(const linear *l, const ambit__stmt *s)
{
  int64_t n = 0;

  for (; s; s = s->next)
    n += flops_of(l, s->value) + count_flops(l, s->body) + count_flops(l, s->other);
  return n;
}

static int count_statements(const ambit__stmt *s)
{
  int n = 0;

  for (; s; s = s->next)
    n += 1 + count_statements(s->body) + count_statements(s->other);
  return n;
}

static void rewrite_rule(linear *l)
{
  ambit__rule *r = l->w->to;
  const int n = r->nlocals;
  ambit__stmt *body;

  for (int i = 0; i < n; i++)
    l->locals[i] = (variable){.origin = i, .now = i, .nversions = 1};
  take_names(l);
  mark_branches(l, r->body, false);
  body = make_versions(l, r->body, false);
  examine(l, body);
  rewrite_all(l, body);
  if (!l->any || l->w->failed) return;
  do {
    for (int i = 0; i < r->nlocals; i++)
      l->locals[i].uses = 0;
    count_remaining(l, body);
  } while (drop_unused(l, body));
  for (int i = 0; i < r->nlocals; i++)
    if (l->locals[i].gone) l->locals[l->locals[i].origin].split = true;
  r->body = cleaned(l, body);
  r->flops = count_flops(l, r->body);
  *l->tail = r->body;
  if (l->first) r->body = l->first;
}

/* A weighted sum of one field, with numbers, is as it should be. */
static bool is_plain_sum(const ambit__rule *rule, ambit__tap *taps, ambit__sum *plain)
{
  return rule->nparams == 2 && ambit__rule_sum(rule, false, taps, TERMS, plain) &&
         ambit__taps_are_numbers(taps, plain->n);
}

void ambit__rewrite_sums(work *w)
{
  const ambit__rule before = *w->to;
  const bool changed = w->changed;
  const size_t most = (size_t)before.nlocals + (size_t)count_statements(before.body) + TERMS;
  ambit__tap *taps = calloc(TERMS, sizeof *taps);
  linear l = {.w = w, .tail = &l.first};
  ambit__sum plain = {0};

  l.locals = calloc(most, sizeof *l.locals);
  l.shared = calloc(TERMS, sizeof *l.shared);
  w->to->locals = ambit__rewriting_take(w, most * sizeof *w->to->locals);
  w->starved |= !taps || !l.locals || !l.shared || !w->to->locals;
  if (!w->starved && !is_plain_sum(w->to, taps, &plain) && !plain.starved) {
    for (int i = 0; i < before.nlocals; i++)
      w->to->locals[i] = before.locals[i];
    rewrite_rule(&l);
  }
  if (!l.any || w->failed) {
    const ambit__arena arena = w->to->arena;

    *w->to = before;
    w->to->arena = arena;
    w->changed = changed;
    w->failed = false;
  }
  w->starved |= plain.starved;
  ambit__index_free(&l.names);
  free(l.locals);
  free(l.shared);
  free(taps);
}
