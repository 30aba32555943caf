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
#include "kernel/graph.h"

#include <stdlib.h>
#include <string.h>

typedef ambit__graph graph;
typedef ambit__graph_node node;
typedef ambit__node_place form;

enum { NESTED = 32, MOST_NUMBER = 1 << 20 };

static node *a_of(const node *n)
{
  return ambit__node_a(n);
}

static node *b_of(const node *n)
{
  return ambit__node_b(n);
}

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
static bool fits(const graph *g, const node *n, const form *f)
{
  if (!is_small(f->number) || !is_small(f->index) || !is_small(f->extent)) return false;
  if (n->e.type == AMBIT_I64) return true;
  return llabs(f->index) <= 8 && llabs(f->extent) <= 8 && g->extent < INT32_MAX / 32;
}

static void learn(const graph *g, node *n);

static bool find(const graph *g, node *n, form *f)
{
  if (n->e.type != AMBIT_I32 && n->e.type != AMBIT_I64) return false;
  learn(g, n);
  *f = n->of.whole.place;
  return n->of.whole.is_place;
}

static bool find_form(const graph *g, node *n, form *f)
{
  form b;

  *f = (form){.axis = -1};
  switch (n->e.op) {
  case EXPR_CONST: f->number = n->e.value.integer; break;
  case EXPR_INDEX: *f = (form){.axis = n->e.index, .index = 1}; break;
  case EXPR_EXTENT: *f = (form){.axis = n->e.index, .extent = 1}; break;
  case EXPR_CAST:
    if (!find(g, a_of(n), f)) return false;
    break;
  case EXPR_NEG:
    if (!find(g, a_of(n), f)) return false;
    *f = scaled(*f, -1);
    break;
  case EXPR_ADD:
  case EXPR_SUB:
    if (!find(g, a_of(n), f) || !find(g, b_of(n), &b)) return false;
    if (!add(f, scaled(b, n->e.op == EXPR_ADD ? 1 : -1))) return false;
    break;
  case EXPR_MUL:
    if (!find(g, a_of(n), f) || !find(g, b_of(n), &b)) return false;
    if (f->axis >= 0 && b.axis >= 0) return false;
    *f = b.axis < 0 ? scaled(*f, b.number) : scaled(b, f->number);
    break;
  default: return false;
  }
  return fits(g, n, f);
}

/* ---- long as int ---- */

static bool is_int(const graph *g, node *n)
{
  learn(g, n);
  return n->of.whole.is_int;
}

/* Whether a long can be computed in int. */
static bool find_int(const graph *g, node *n)
{
  const ambit__range all = ambit__range_of_type(AMBIT_I32);

  if (n->range.low < all.low || n->range.high > all.high) return false;
  switch (n->e.op) {
  case EXPR_CAST: return n->e.a->type != AMBIT_I64 && !ambit__type_is_real(n->e.a->type);
  case EXPR_CONST: return true;
  case EXPR_INDEX:
  case EXPR_EXTENT: return g->extent < INT32_MAX / 32;
  case EXPR_NEG: return is_int(g, a_of(n));
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_MUL:
  case EXPR_AND:
  case EXPR_OR:
  case EXPR_XOR: return is_int(g, a_of(n)) && is_int(g, b_of(n));
  case EXPR_DIV:
  case EXPR_MOD: return is_int(g, a_of(n)) && n->e.b->op == EXPR_CONST && n->e.b->value.integer > 0;
  default: return false;
  }
}

static int height_of(const node *n)
{
  return n && n->is_known ? n->of.whole.height : 0;
}

/* Operands were made before, so this does not go deep. */
static void learn(const graph *g, node *n)
{
  const node *a = a_of(n), *b = b_of(n);
  const int height = 1 + (height_of(a) > height_of(b) ? height_of(a) : height_of(b));

  if (n->is_known) return;
  n->is_known = true;
  n->of.whole.height = height;
  n->of.whole.has_place = n->e.op == EXPR_INDEX || n->e.op == EXPR_EXTENT ||
                          (a && a->is_known && a->of.whole.has_place) ||
                          (b && b->is_known && b->of.whole.has_place);
  n->of.whole.is_place = find_form(g, n, &n->of.whole.place);
  n->of.whole.is_int = n->e.type == AMBIT_I64 && height <= NESTED && find_int(g, n);
}

static node *narrow(graph *g, node *n);

static node *make_narrow(graph *g, node *n)
{
  if (n->e.op == EXPR_CAST && n->e.a->type == AMBIT_I32) return a_of(n);
  if (n->e.op == EXPR_CAST || n->e.op == EXPR_INDEX || n->e.op == EXPR_EXTENT)
    return ambit__node_plain(g, EXPR_CAST, AMBIT_I32, n->e.op == EXPR_CAST ? a_of(n) : n, NULL,
                             NULL);
  if (n->e.op == EXPR_CONST) return ambit__node_number(g, AMBIT_I32, n->e.value);
  return ambit__node_plain(g, n->e.op, AMBIT_I32, narrow(g, a_of(n)),
                           n->e.b ? narrow(g, b_of(n)) : NULL, NULL);
}

/* The same in int. */
static node *narrow(graph *g, node *n)
{
  if (!n->of.whole.narrow) n->of.whole.narrow = make_narrow(g, n);
  return n->of.whole.narrow;
}

static bool is_narrow(const node *n)
{
  return n->e.type == AMBIT_I64 && n->e.op != EXPR_CONST && n->of.whole.has_place &&
         n->of.whole.is_int;
}

/* Whether a comparison is one of a place, in the form. */
static bool is_test(const node *n)
{
  const ambit__expr *e = &n->e;

  return (e->op == EXPR_LT || e->op == EXPR_GE || e->op == EXPR_EQ || e->op == EXPR_NE) &&
         e->a->op == EXPR_INDEX &&
         (e->b->op == EXPR_CONST ||
          (e->b->op == EXPR_SUB && e->b->a->op == EXPR_EXTENT && e->b->b->op == EXPR_CONST));
}

/* Conversions from long. */
static node *conversion(graph *g, const ambit__expr *like, node *a)
{
  if (like->type == AMBIT_I32 && a->e.op != EXPR_INDEX && a->e.op != EXPR_EXTENT && is_narrow(a))
    return narrow(g, a);
  if (ambit__type_is_real(like->type) && is_narrow(a)) a = narrow(g, a);
  return ambit__node_like(g, like, a, NULL, NULL);
}

/* ---- comparisons ---- */

static node *place_of(graph *g, ambit__op op, int axis)
{
  const ambit__expr e = {.op = op, .type = AMBIT_I64, .index = axis};

  return ambit__node_like(g, &e, NULL, NULL, NULL);
}

/* index(axis) op c, or extent(axis) - c. */
static node *write_test(graph *g, ambit__op op, int axis, bool from_end, int64_t c)
{
  node *bound = ambit__node_number(g, AMBIT_I64, (ambit__value){.integer = c});

  if (from_end)
    bound = ambit__node_plain(g, EXPR_SUB, AMBIT_I64, place_of(g, EXPR_EXTENT, axis), bound, NULL);
  return ambit__node_plain(g, op, AMBIT_I32, place_of(g, EXPR_INDEX, axis), bound, NULL);
}

/* f op 0, where index counts once. */
static node *test_of(graph *g, ambit__op op, form f)
{
  const bool from_end = f.extent != 0;
  int64_t c = from_end ? f.number : -f.number;
  const int inwards = from_end ? -1 : 1; /* what a place further up adds to c */

  if (op == EXPR_LE || op == EXPR_GT) {
    c += inwards;
    op = op == EXPR_LE ? EXPR_LT : EXPR_GE;
  }
  if (op == EXPR_EQ || op == EXPR_NE) {
    if (c < from_end) return ambit__node_int(g, op == EXPR_NE);
    if (c > from_end) return write_test(g, op, f.axis, from_end, c);
    if (!from_end) c = 1;
    op = (op == EXPR_EQ) == from_end ? EXPR_GE : EXPR_LT;
  }
  if (c <= 0) return ambit__node_int(g, (op == EXPR_LT) == from_end);
  return write_test(g, op, f.axis, from_end, c);
}

/* A comparison that is one of a place; else NULL. */
static node *find_test(graph *g, ambit__op op, node *x, node *y)
{
  form a, b;

  if (!find(g, x, &a) || !find(g, y, &b) || !add(&a, scaled(b, -1))) return NULL;
  if (a.axis < 0 || !a.index) return NULL;
  if (a.index < 0) {
    a = scaled(a, -1);
    op = ambit__op_mirrored(op);
  }
  if (a.index != 1 || (a.extent && a.extent != -1)) return NULL;
  return test_of(g, op, a);
}

/* ---- truth ---- */

static bool is_truth(const node *n)
{
  return (n->e.op >= EXPR_LT && n->e.op <= EXPR_LOR) || n->e.op == EXPR_NOT ||
         (n->e.op == EXPR_CONST && n->e.type == AMBIT_I32 &&
          (n->e.value.integer == 0 || n->e.value.integer == 1));
}

static bool is_number(const node *n, int64_t value)
{
  return n->e.op == EXPR_CONST && !ambit__type_is_real(n->e.type) && n->e.value.integer == value;
}

/* 0 or 1 for an operand of && || !: a place is not 0 but in the first cells. */
static node *truth_of(graph *g, node *n)
{
  form f;

  if (is_truth(n) || !find(g, n, &f) || f.axis < 0 || llabs(f.index) != 1 ||
      (f.extent && f.extent != -f.index))
    return n;
  return test_of(g, EXPR_NE, scaled(f, f.index));
}

/* Whether the opposite of a condition is one without a negation. */
static bool has_inverse(const node *n, int depth)
{
  if (depth > NESTED) return false;
  if (n->e.op == EXPR_LAND || n->e.op == EXPR_LOR)
    return has_inverse(a_of(n), depth + 1) && has_inverse(b_of(n), depth + 1);
  return is_test(n) || (n->e.op == EXPR_CONST && is_truth(n)) ||
         (n->e.op == EXPR_NOT && is_truth(a_of(n)));
}

static ambit__op opposite(ambit__op op)
{
  return op == EXPR_LT ? EXPR_GE : op == EXPR_GE ? EXPR_LT : op == EXPR_EQ ? EXPR_NE : EXPR_EQ;
}

/* !n, if it has an inverse. */
static node *inverse(graph *g, node *n)
{
  if (n->e.op == EXPR_CONST) return ambit__node_int(g, !n->e.value.integer);
  if (n->e.op == EXPR_NOT) return a_of(n);
  if (is_test(n)) return ambit__node_plain(g, opposite(n->e.op), AMBIT_I32, a_of(n), b_of(n), NULL);
  return ambit__node_plain(g, n->e.op == EXPR_LAND ? EXPR_LOR : EXPR_LAND, AMBIT_I32,
                           inverse(g, a_of(n)), inverse(g, b_of(n)), NULL);
}

/* && or || of two operands that are in the form. */
static node *both(graph *g, const ambit__expr *like, node *a, node *b)
{
  const int64_t decides = like->op == EXPR_LOR;

  if (is_number(a, decides) || is_number(b, decides)) return ambit__node_int(g, decides);
  if (is_number(a, !decides) && is_truth(b)) return b;
  if (is_number(b, !decides) && is_truth(a)) return a;
  return ambit__node_like(g, like, a, b, NULL);
}

static bool is_same(const graph *g, node *a, node *b)
{
  form x, y;

  return find(g, a, &x) && find(g, b, &y) && x.axis == y.axis && x.index == y.index &&
         x.extent == y.extent && x.number == y.number;
}

/* Whether a condition is the smaller one of two places, or the larger one: -1 or 1; else 0. */
static int side_of(const graph *g, const node *n)
{
  const node *c = n->e.op == EXPR_COND ? a_of(n) : NULL;
  int side;

  if (!c || c->e.op < EXPR_LT || c->e.op > EXPR_GE) return 0;
  side = c->e.op == EXPR_LT || c->e.op == EXPR_LE ? -1 : 1;
  if (is_same(g, a_of(c), b_of(n)) && is_same(g, b_of(c), ambit__node_c(n))) return side;
  return is_same(g, a_of(c), ambit__node_c(n)) && is_same(g, b_of(c), b_of(n)) ? -side : 0;
}

/* min(x, y) < z is x < z || y < z: the comparison `op` of two operands. */
static node *split(graph *g, ambit__op op, node *a, node *b)
{
  const int side = op == EXPR_EQ || op == EXPR_NE ? 0 : side_of(g, a);
  const bool below = op == EXPR_LT || op == EXPR_LE;
  ambit__expr like = {.op = (side < 0) == below ? EXPR_LOR : EXPR_LAND, .type = AMBIT_I32};
  node *x, *y;

  if (!side) return NULL;
  x = find_test(g, op, b_of(a), b);
  y = find_test(g, op, ambit__node_c(a), b);
  return x && y ? both(g, &like, x, y) : NULL;
}

static node *comparison(graph *g, const ambit__expr *like, node *a, node *b)
{
  node *test = find_test(g, like->op, a, b);

  if (!test) test = split(g, like->op, a, b);
  if (!test) test = split(g, ambit__op_mirrored(like->op), b, a);
  if (test) return test;
  if ((like->op == EXPR_EQ || like->op == EXPR_NE) && is_truth(a) &&
      (is_number(b, 0) || is_number(b, 1)) && has_inverse(a, 0))
    return (like->op == EXPR_EQ) == is_number(b, 1) ? a : inverse(g, a);
  test = ambit__node_like(g, like, a, b, NULL);
  if (a->e.type != AMBIT_I64 || is_test(test) || !is_int(g, a) || !is_int(g, b) ||
      (!a->of.whole.has_place && !b->of.whole.has_place))
    return test;
  return ambit__node_like(g, like, narrow(g, a), narrow(g, b), NULL);
}

static node *condition(graph *g, const ambit__expr *like, node *a, node *b, node *c)
{
  if (is_number(a, 0) || is_number(a, 1)) return is_number(a, 1) ? b : c;
  if (is_number(b, 1) && is_number(c, 0) && like->type == AMBIT_I32 && is_truth(a)) return a;
  if (is_number(b, 0) && is_number(c, 1) && like->type == AMBIT_I32 && has_inverse(a, 0))
    return inverse(g, a);
  return ambit__node_like(g, like, a, b, c);
}

/* ---- all ---- */

/* outside() as the comparisons that it stands for, unless they are too far inside for tests.c. */
static node *opened(graph *g, const ambit__expr *like, node *a, node *b)
{
  ambit__expr e = *like;

  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (abs(e.offset[d]) >= AMBIT__TEST_REACH) return ambit__node_like(g, like, a, b, NULL);
  e.is_outside = false;
  memset(e.offset, 0, sizeof e.offset);
  return ambit__node_like(g, &e, a, b, NULL);
}

static node *make(graph *g, const ambit__expr *like, node *a, node *b, node *c)
{
  if (like->is_outside) return opened(g, like, a, b);
  switch (like->op) {
  case EXPR_NOT:
    a = truth_of(g, a);
    return has_inverse(a, 0) ? inverse(g, a) : ambit__node_like(g, like, a, b, c);
  case EXPR_LAND:
  case EXPR_LOR: return both(g, like, truth_of(g, a), truth_of(g, b));
  case EXPR_COND: return condition(g, like, truth_of(g, a), b, c);
  case EXPR_LT:
  case EXPR_LE:
  case EXPR_GT:
  case EXPR_GE:
  case EXPR_EQ:
  case EXPR_NE: return comparison(g, like, a, b);
  case EXPR_CAST: return conversion(g, like, a);
  default: return ambit__node_like(g, like, a, b, c);
  }
}

node *ambit__node_placed(graph *g, const ambit__expr *like, node *a, node *b, node *c)
{
  node *n = make(g, like, a, b, c);

  if (g->failed) return n;
  learn(g, n);
  g->changed |= n->e.op != like->op || n->e.is_outside != like->is_outside || a_of(n) != a ||
                b_of(n) != b || ambit__node_c(n) != c;
  return n;
}
