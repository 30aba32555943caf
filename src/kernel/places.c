/* SPDX-License-Identifier: BSD-3-Clause */
/* places.c - tests of the place of a cell, and arithmetic with it, in one form.
 *
 * A comparison of index(d), plus numbers, with numbers or extent(d) says on which side of a place
 * near a face a cell is. However it is spelled, it becomes
 *
 *   index(d) < c,  index(d) >= c,  index(d) < extent(d) - c,  index(d) >= extent(d) - c
 *
 * with c > 0, or 0 or 1 where all cells of a grid are on one side; == and != stay for places that
 * are not the first or last one. This is the form of outside(), and the one that tests.c knows.
 * Negations, locals, conversions and the smaller or larger one of two disappear.
 *
 * long arithmetic with index() and extent() is done in int where the extents of the grid allow it:
 * few processors convert vectors of long to real numbers, or divide them. All values stay the same.
 */
#include "kernel/range.h"
#include "kernel/rewrite.h"

#include <stdlib.h>
#include <string.h>

typedef ambit__rewriting work;
typedef ambit__expr expr;

enum { NESTED = 32, MOST_NUMBER = 1 << 20 };

/* index * index(axis) + extent * extent(axis) + number */
typedef struct form {
  int axis; /* -1: a number */
  int64_t index, extent, number;
} form;

static const expr *rewrite(work *w, const expr *e);
static const expr *inverse(work *w, const expr *e);

/* ---- integers as forms ---- */

static form scaled(form f, int64_t by)
{
  return (form){f.axis, by * f.index, by * f.extent, by * f.number};
}

static bool add(form *to, form f)
{
  if (to->axis >= 0 && f.axis >= 0 && to->axis != f.axis) return false;
  if (f.axis >= 0) to->axis = f.axis;
  to->index += f.index;
  to->extent += f.extent;
  to->number += f.number;
  return true;
}

static bool is_small(int64_t n)
{
  return n > -MOST_NUMBER && n < MOST_NUMBER;
}

/* Whether no int, or long, is too small for a form. */
static bool fits(const work *w, const expr *e, const form *f)
{
  if (!is_small(f->number) || !is_small(f->index) || !is_small(f->extent)) return false;
  if (e->type == AMBIT_I64) return true;
  return e->type == AMBIT_I32 && llabs(f->index) <= 8 && llabs(f->extent) <= 8 &&
         w->extent < INT32_MAX / 32;
}

static bool find(const work *w, const expr *e, int depth, form *f)
{
  const expr *only = e->op == EXPR_LOCAL ? ambit__only_value(w->to, e->index) : NULL;
  form b;

  *f = (form){.axis = -1};
  if (depth > NESTED || (e->type != AMBIT_I32 && e->type != AMBIT_I64)) return false;
  switch (e->op) {
  case EXPR_CONST: f->number = e->value.integer; break;
  case EXPR_INDEX: *f = (form){.axis = e->index, .index = 1}; break;
  case EXPR_EXTENT: *f = (form){.axis = e->index, .extent = 1}; break;
  case EXPR_LOCAL:
    if (!only || !find(w, only, depth + 1, f)) return false;
    break;
  case EXPR_CAST:
    if (!find(w, e->a, depth + 1, f)) return false;
    break;
  case EXPR_NEG:
    if (!find(w, e->a, depth + 1, f)) return false;
    *f = scaled(*f, -1);
    break;
  case EXPR_ADD:
  case EXPR_SUB:
    if (!find(w, e->a, depth + 1, f) || !find(w, e->b, depth + 1, &b)) return false;
    if (!add(f, scaled(b, e->op == EXPR_ADD ? 1 : -1))) return false;
    break;
  case EXPR_MUL:
    if (!find(w, e->a, depth + 1, f) || !find(w, e->b, depth + 1, &b)) return false;
    if (f->axis >= 0 && b.axis >= 0) return false;
    *f = b.axis < 0 ? scaled(*f, b.number) : scaled(b, f->number);
    break;
  default: return false;
  }
  return fits(w, e, f);
}

/* ---- comparisons ---- */

static const expr *truth(work *w, const expr *like, bool value)
{
  return ambit__rewriting_number(w, like, AMBIT_I32, (ambit__value){.integer = value});
}

static const expr *place_of(work *w, const expr *like, ambit__op op, int axis)
{
  expr *e = (expr *)ambit__rewriting_make(w, like, op, AMBIT_I64, NULL, NULL);

  if (e != like) e->index = axis;
  return e;
}

/* index(axis) op c, or extent(axis) - c. */
static const expr *write_test(work *w, const expr *like, ambit__op op, int axis, bool from_end,
                              int64_t c)
{
  const expr *bound = ambit__rewriting_number(w, like, AMBIT_I64, (ambit__value){.integer = c});

  if (from_end)
    bound = ambit__rewriting_make(w, like, EXPR_SUB, AMBIT_I64,
                                  place_of(w, like, EXPR_EXTENT, axis), bound);
  return ambit__rewriting_make(w, like, op, AMBIT_I32, place_of(w, like, EXPR_INDEX, axis), bound);
}

/* f op 0, where index counts once. */
static const expr *test_of(work *w, const expr *like, ambit__op op, form f)
{
  const bool from_end = f.extent != 0;
  int64_t c = from_end ? f.number : -f.number;
  const int inwards = from_end ? -1 : 1; /* what a place further up adds to c */

  if (op == EXPR_LE || op == EXPR_GT) {
    c += inwards;
    op = op == EXPR_LE ? EXPR_LT : EXPR_GE;
  }
  if (op == EXPR_EQ || op == EXPR_NE) {
    if (c < from_end) return truth(w, like, op == EXPR_NE);
    if (c > from_end) return write_test(w, like, op, f.axis, from_end, c);
    if (!from_end) c = 1;
    op = (op == EXPR_EQ) == from_end ? EXPR_GE : EXPR_LT;
  }
  if (c <= 0) return truth(w, like, (op == EXPR_LT) == from_end);
  return write_test(w, like, op, f.axis, from_end, c);
}

static bool is_test(const expr *e)
{
  return (e->op == EXPR_LT || e->op == EXPR_GE || e->op == EXPR_EQ || e->op == EXPR_NE) &&
         e->a->op == EXPR_INDEX &&
         (e->b->op == EXPR_CONST ||
          (e->b->op == EXPR_SUB && e->b->a->op == EXPR_EXTENT && e->b->b->op == EXPR_CONST));
}

/* A comparison that is one of a place; else NULL. */
static const expr *find_test(work *w, const expr *e)
{
  ambit__op op = e->op;
  form a, b;

  if (is_test(e) && e->type == AMBIT_I32 && e->b->op == EXPR_CONST && e->b->value.integer > 0 &&
      (op == EXPR_LT || op == EXPR_GE))
    return e;
  if (!find(w, e->a, 0, &a) || !find(w, e->b, 0, &b) || !add(&a, scaled(b, -1))) return NULL;
  if (a.axis < 0 || !a.index) return NULL;
  if (a.index < 0) {
    a = scaled(a, -1);
    op = ambit__op_mirrored(op);
  }
  if (a.index != 1 || (a.extent && a.extent != -1)) return NULL;
  return test_of(w, e, op, a);
}

/* ---- truth ---- */

static bool is_truth(const expr *e)
{
  return (e->op >= EXPR_LT && e->op <= EXPR_LOR) || e->op == EXPR_NOT ||
         (e->op == EXPR_CONST && e->type == AMBIT_I32 &&
          (e->value.integer == 0 || e->value.integer == 1));
}

static bool is_number(const expr *e, int64_t n)
{
  return e->op == EXPR_CONST && !ambit__type_is_real(e->type) && e->value.integer == n;
}

/* 0 or 1 for an operand of && || !: a place is not 0 but in the first cells. */
static const expr *truth_of(work *w, const expr *e)
{
  const expr *test = NULL;
  form f;

  if (!is_truth(e) && find(w, e, 0, &f) && f.axis >= 0 && llabs(f.index) == 1 &&
      (!f.extent || f.extent == -f.index))
    test = test_of(w, e, EXPR_NE, scaled(f, f.index));
  return test ? test : e;
}

/* Whether the opposite of a condition is one without a negation. */
static bool has_inverse(const expr *e)
{
  if (e->op == EXPR_LAND || e->op == EXPR_LOR) return has_inverse(e->a) && has_inverse(e->b);
  return is_test(e) || (e->op == EXPR_CONST && is_truth(e)) ||
         (e->op == EXPR_NOT && is_truth(e->a));
}

static ambit__op opposite(ambit__op op)
{
  return op == EXPR_LT ? EXPR_GE : op == EXPR_GE ? EXPR_LT : op == EXPR_EQ ? EXPR_NE : EXPR_EQ;
}

static const expr *inverse(work *w, const expr *e)
{
  if (!has_inverse(e)) return ambit__rewriting_make(w, e, EXPR_NOT, AMBIT_I32, e, NULL);
  if (e->op == EXPR_CONST) return truth(w, e, !e->value.integer);
  if (e->op == EXPR_NOT) return e->a;
  if (is_test(e)) return ambit__rewriting_make(w, e, opposite(e->op), AMBIT_I32, e->a, e->b);
  return ambit__rewriting_make(w, e, e->op == EXPR_LAND ? EXPR_LOR : EXPR_LAND, AMBIT_I32,
                               inverse(w, e->a), inverse(w, e->b));
}

/* && or || of two operands that are in the form. */
static const expr *both(work *w, const expr *e, const expr *a, const expr *b)
{
  const int64_t decides = e->op == EXPR_LOR;

  if (is_number(a, decides) || is_number(b, decides)) return truth(w, e, decides);
  if (is_number(a, !decides) && is_truth(b)) return b;
  if (is_number(b, !decides) && is_truth(a)) return a;
  return ambit__rewriting_with(w, e, a, b, NULL);
}

static bool is_same(const work *w, const expr *a, const expr *b)
{
  form x, y;

  return find(w, a, 0, &x) && find(w, b, 0, &y) && x.axis == y.axis && x.index == y.index &&
         x.extent == y.extent && x.number == y.number;
}

/* Whether a condition is the smaller one of two places, or the larger one: -1 or 1; else 0. */
static int side_of(const work *w, const expr *e)
{
  const expr *c = e->op == EXPR_COND ? e->a : NULL;
  int side;

  if (!c || c->op < EXPR_LT || c->op > EXPR_GE) return 0;
  side = c->op == EXPR_LT || c->op == EXPR_LE ? -1 : 1;
  if (is_same(w, c->a, e->b) && is_same(w, c->b, e->c)) return side;
  return is_same(w, c->a, e->c) && is_same(w, c->b, e->b) ? -side : 0;
}

/* min(x, y) < z is x < z || y < z: the comparison `op` of two operands, like e. */
static const expr *split(work *w, const expr *e, ambit__op op, const expr *a, const expr *b)
{
  const int side = op == EXPR_EQ || op == EXPR_NE ? 0 : side_of(w, a);
  const bool below = op == EXPR_LT || op == EXPR_LE;
  const expr *x, *y;

  if (!side) return NULL;
  x = find_test(w, ambit__rewriting_make(w, e, op, AMBIT_I32, a->b, b));
  y = find_test(w, ambit__rewriting_make(w, e, op, AMBIT_I32, a->c, b));
  if (!x || !y) return NULL;
  return both(
      w, ambit__rewriting_make(w, e, (side < 0) == below ? EXPR_LOR : EXPR_LAND, AMBIT_I32, x, y),
      x, y);
}

static const expr *comparison(work *w, const expr *e)
{
  const expr *test = find_test(w, e);

  if (!test) test = split(w, e, e->op, e->a, e->b);
  if (!test) test = split(w, e, ambit__op_mirrored(e->op), e->b, e->a);
  if (test) return test;
  if ((e->op == EXPR_EQ || e->op == EXPR_NE) && is_truth(e->a) &&
      (is_number(e->b, 0) || is_number(e->b, 1)) && has_inverse(e->a))
    return (e->op == EXPR_EQ) == is_number(e->b, 1) ? e->a : inverse(w, e->a);
  return e;
}

static const expr *condition(work *w, const expr *e, const expr *a, const expr *b, const expr *c)
{
  if (is_number(a, 0) || is_number(a, 1)) return is_number(a, 1) ? b : c;
  if (is_number(b, 1) && is_number(c, 0) && e->type == AMBIT_I32 && is_truth(a)) return a;
  if (is_number(b, 0) && is_number(c, 1) && e->type == AMBIT_I32 && has_inverse(a))
    return inverse(w, a);
  return ambit__rewriting_with(w, e, a, b, c);
}

/* ---- long as int ---- */

static const expr *local_value(const work *w, const expr *e)
{
  return e->op == EXPR_LOCAL ? ambit__only_value(w->to, e->index) : NULL;
}

/* The range of an expression of the type long that can be computed in int; false: it cannot. */
static bool find_range(const work *w, const expr *e, int depth, ambit__range *r)
{
  const ambit__range all = ambit__range_of_type(AMBIT_I32);
  ambit__range a = {0, 0}, b = {0, 0};

  if (depth > NESTED) return false;
  if (e->op == EXPR_CAST && e->a->type != AMBIT_I64 && !ambit__type_is_real(e->a->type)) {
    *r = ambit__range_of_type(e->a->type);
    return true;
  }
  switch (e->op) {
  case EXPR_CONST: break;
  case EXPR_LOCAL: return local_value(w, e) && find_range(w, local_value(w, e), depth + 1, r);
  case EXPR_INDEX:
  case EXPR_EXTENT: *r = (ambit__range){0, w->extent}; return w->extent < INT32_MAX / 32;
  case EXPR_NEG:
    if (!find_range(w, e->a, depth + 1, &a)) return false;
    break;
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_MUL:
  case EXPR_AND:
  case EXPR_OR:
  case EXPR_XOR:
    if (!find_range(w, e->a, depth + 1, &a) || !find_range(w, e->b, depth + 1, &b)) return false;
    break;
  case EXPR_DIV:
  case EXPR_MOD:
    if (!find_range(w, e->a, depth + 1, &a) || e->b->op != EXPR_CONST || e->b->value.integer <= 0)
      return false;
    break;
  default: return false;
  }
  *r = ambit__range_from(e, a, b, b);
  return r->low >= all.low && r->high <= all.high;
}

static bool has_place(const work *w, const expr *e)
{
  if (!e) return false;
  if (e->op == EXPR_LOCAL && e->type == AMBIT_I64) return has_place(w, local_value(w, e));
  return e->op == EXPR_INDEX || e->op == EXPR_EXTENT || has_place(w, e->a) || has_place(w, e->b);
}

/* The same in int, of an expression that has a range. */
static const expr *narrow(work *w, const expr *e)
{
  if (e->op == EXPR_LOCAL) return narrow(w, local_value(w, e));
  if (e->op == EXPR_CAST && e->a->type == AMBIT_I32) return e->a;
  if (e->op == EXPR_CAST || e->op == EXPR_INDEX || e->op == EXPR_EXTENT)
    return ambit__rewriting_make(w, e, EXPR_CAST, AMBIT_I32, e->op == EXPR_CAST ? e->a : e, NULL);
  if (e->op == EXPR_CONST) return ambit__rewriting_number(w, e, AMBIT_I32, e->value);
  return ambit__rewriting_make(w, e, e->op, AMBIT_I32, narrow(w, e->a),
                               e->b ? narrow(w, e->b) : NULL);
}

static bool is_narrow(const work *w, const expr *e)
{
  ambit__range r;

  return e->type == AMBIT_I64 && e->op != EXPR_CONST && has_place(w, e) && find_range(w, e, 0, &r);
}

/* Conversions from long, and comparisons of it. */
static const expr *narrowed(work *w, const expr *e)
{
  ambit__range r;

  if (e->op == EXPR_CAST && e->type == AMBIT_I32 && e->a->op != EXPR_INDEX &&
      e->a->op != EXPR_EXTENT && is_narrow(w, e->a))
    return narrow(w, e->a);
  if (e->op == EXPR_CAST && ambit__type_is_real(e->type) && is_narrow(w, e->a))
    return ambit__rewriting_with(w, e, narrow(w, e->a), NULL, NULL);
  if (e->op >= EXPR_LT && e->op <= EXPR_NE && !is_test(e) && e->a->type == AMBIT_I64 &&
      find_range(w, e->a, 0, &r) && find_range(w, e->b, 0, &r) &&
      (has_place(w, e->a) || has_place(w, e->b)))
    return ambit__rewriting_with(w, e, narrow(w, e->a), narrow(w, e->b), NULL);
  return e;
}

/* ---- all ---- */

/* outside() as the comparisons that it stands for, unless they are too far inside for tests.c. */
static const expr *opened(work *w, const expr *e)
{
  expr *copy = ambit__rewriting_take(w, sizeof *copy);

  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (abs(e->offset[d]) >= AMBIT__TEST_REACH) return e;
  if (!copy) return e;
  *copy = *e;
  copy->is_outside = false;
  memset(copy->offset, 0, sizeof copy->offset);
  w->changed = true;
  return copy;
}

static const expr *rewrite(work *w, const expr *e)
{
  const expr *a, *b, *c;

  if (!e || w->failed) return e;
  if (e->is_outside) return opened(w, e);
  a = rewrite(w, e->a);
  b = rewrite(w, e->b);
  c = rewrite(w, e->c);
  if (w->failed) return e;
  switch (e->op) {
  case EXPR_NOT:
    return has_inverse(a = truth_of(w, a)) ? inverse(w, a) : ambit__rewriting_with(w, e, a, b, c);
  case EXPR_LAND:
  case EXPR_LOR: return both(w, e, truth_of(w, a), truth_of(w, b));
  case EXPR_COND: return condition(w, e, truth_of(w, a), b, c);
  case EXPR_LT:
  case EXPR_LE:
  case EXPR_GT:
  case EXPR_GE:
  case EXPR_EQ:
  case EXPR_NE: return narrowed(w, comparison(w, ambit__rewriting_with(w, e, a, b, c)));
  default: return narrowed(w, ambit__rewriting_with(w, e, a, b, c));
  }
}

void ambit__rewrite_places(work *w)
{
  if (w->to->max_axis >= 0) w->to->body = ambit__rewriting_list(w, w->to->body, rewrite);
}
