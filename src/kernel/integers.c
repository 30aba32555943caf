/* SPDX-License-Identifier: BSD-3-Clause */
/* integers.c - nodes of a graph that are simplified when they are made: integers and conditions. */
#include "kernel/graph.h"

#include <stdlib.h>
#include <string.h>

typedef ambit__graph_node node;
typedef ambit__graph graph;

enum { MOST_TERMS = 256, KNOWN_ENTRIES = 4096 /* of a table whose values are looked at */ };

static node *a_of(const node *n)
{
  return ambit__node_a(n);
}

static node *b_of(const node *n)
{
  return ambit__node_b(n);
}

static bool is_number(const node *n)
{
  return ambit__node_is_number(n);
}

/* Whether a node is this int. */
static bool is_int(const node *n, int64_t value)
{
  return is_number(n) && n->e.type == AMBIT_I32 && n->e.value.integer == value;
}

static bool is_integer(ambit_type type)
{
  return !ambit__type_is_real(type);
}

static bool fits(ambit__range r, ambit_type type)
{
  const ambit__range all = ambit__range_of_type(type);

  return all.low <= r.low && r.high <= all.high;
}

/* ---- sums ---- */

typedef struct sum {
  int n;
  ambit__node_term terms[MOST_TERMS];
  int64_t constant;
} sum;

/* Adds a multiple of a value to a sum. */
static void add_term(graph *g, sum *s, node *value, int64_t weight)
{
  int i = 0;

  while (i < s->n && s->terms[i].value != value &&
         ambit__node_compare(s->terms[i].value, value) < 0)
    i++;
  if (i < s->n && s->terms[i].value == value) {
    s->terms[i].weight = (int32_t)(uint32_t)(s->terms[i].weight + weight);
    if (s->terms[i].weight) return;
    memmove(&s->terms[i], &s->terms[i + 1], (size_t)(--s->n - i) * sizeof *s->terms);
    return;
  }
  if (s->n == MOST_TERMS) {
    g->failed = true;
    return;
  }
  memmove(&s->terms[i + 1], &s->terms[i], (size_t)(s->n++ - i) * sizeof *s->terms);
  s->terms[i] = (ambit__node_term){value, (int32_t)(uint32_t)weight};
}

static void add(graph *g, sum *s, node *x, int64_t times)
{
  if (!times) return;
  if (is_number(x)) {
    s->constant += x->e.value.integer * times;
    return;
  }
  if (!x->nterms) add_term(g, s, x, times);
  s->constant += x->constant * times;
  for (int i = 0; i < x->nterms; i++) {
    const int64_t weight = (int32_t)(uint32_t)(x->terms[i].weight * times);

    if (weight) add_term(g, s, x->terms[i].value, weight);
  }
}

node *ambit__node_sum(graph *g, node *x, int64_t a, node *y, int64_t b, int64_t c)
{
  node n = {.e = {.op = EXPR_ADD, .type = AMBIT_I32}};
  sum s;

  s.n = 0;
  s.constant = c;
  add(g, &s, x, a);
  if (y) add(g, &s, y, b);
  n.constant = (int32_t)(uint32_t)s.constant;
  n.nterms = s.n;
  n.terms = s.terms;
  if (!s.n) return ambit__node_int(g, n.constant);
  if (s.n == 1 && s.terms[0].weight == 1 && !n.constant) return s.terms[0].value;
  return ambit__node_get(g, &n);
}

static node *negative(graph *g, node *x)
{
  return ambit__node_sum(g, x, -1, NULL, 0, 0);
}

static void put_in_order(node **x, node **y)
{
  node *first = *x;

  if (!is_number(*x) && (is_number(*y) || ambit__node_compare(*x, *y) <= 0)) return;
  *x = *y;
  *y = first;
}

node *ambit__node_product(graph *g, node *x, node *y)
{
  put_in_order(&x, &y);
  if (is_number(y)) return ambit__node_sum(g, x, y->e.value.integer, NULL, 0, 0);
  return ambit__node_plain(g, EXPR_MUL, AMBIT_I32, x, y, NULL);
}

/* ---- quotients ---- */

static int64_t common_divisor(int64_t a, int64_t b)
{
  return b ? common_divisor(b, a % b) : a;
}

/* The greatest number that divides n and all weights of a sum. */
static int64_t divisor_of(const node *x, int64_t n)
{
  for (int i = 0; i < x->nterms; i++)
    n = common_divisor(n, llabs((int64_t)x->terms[i].weight));
  return x->nterms ? n : 1;
}

static int64_t rounded_down(int64_t a, int64_t b)
{
  return a / b - (a % b < 0);
}

/* (w x + c) / n is (w / n x + c / n) rounded down, if n divides the weights w. */
node *ambit__node_reduced(graph *g, const node *x, int64_t n)
{
  node *total = ambit__node_int(g, rounded_down(x->constant, n));

  for (int i = 0; i < x->nterms; i++)
    total = ambit__node_sum(g, total, 1, x->terms[i].value, x->terms[i].weight / n, 0);
  return total;
}

static bool may_wrap(const node *x)
{
  return x->range.low == INT32_MIN && x->range.high == INT32_MAX;
}

static int log2_of(int64_t n)
{
  int bits = 0;

  while ((int64_t)1 << bits < n)
    bits++;
  return bits;
}

node *ambit__node_shifted(graph *g, node *x, int n)
{
  const int64_t divisor = n < 31 && !may_wrap(x) ? divisor_of(x, (int64_t)1 << n) : 1;

  if (!n) return x;
  if (x->range.low >= 0 && x->range.high < (int64_t)1 << n) return ambit__node_int(g, 0);
  if (divisor > 1)
    return ambit__node_shifted(g, ambit__node_reduced(g, x, divisor), n - log2_of(divisor));
  if (ambit__expr_is_least(&x->e) && is_number(ambit__node_c(x)))
    return ambit__node_least(g, ambit__node_shifted(g, b_of(x), n),
                             ambit__node_int(g, x->e.c->value.integer >> n));
  if (ambit__expr_is_most(&x->e) && is_number(b_of(x)))
    return ambit__node_most(g, ambit__node_shifted(g, ambit__node_c(x), n),
                            ambit__node_int(g, x->e.b->value.integer >> n));
  if (x->e.op == EXPR_SHR && is_number(b_of(x)) && x->e.b->value.integer + n < 32)
    return ambit__node_shifted(g, a_of(x), n + (int)x->e.b->value.integer);
  return ambit__node_plain(g, EXPR_SHR, AMBIT_I32, x, ambit__node_int(g, n), NULL);
}

node *ambit__node_divided(graph *g, node *x, int64_t n)
{
  const int64_t divisor = x->range.low >= 0 && !may_wrap(x) ? divisor_of(x, n) : 1;
  const int bits = log2_of(n);

  if (n == 1) return x;
  if (divisor > 1) return ambit__node_divided(g, ambit__node_reduced(g, x, divisor), n / divisor);
  if (x->range.low > -n && x->range.high < n) return ambit__node_int(g, 0);
  if ((int64_t)1 << bits == n && x->range.low >= 0) return ambit__node_shifted(g, x, bits);
  return ambit__node_plain(g, EXPR_DIV, AMBIT_I32, x, ambit__node_int(g, n), NULL);
}

static node *bits(graph *g, ambit__op op, node *x, node *y);

static node *remainder_of(graph *g, node *x, int64_t n)
{
  if (x->range.low >= 0 && x->range.high < n) return x;
  if (x->range.low >= 0 && !(n & (n - 1))) return bits(g, EXPR_AND, x, ambit__node_int(g, n - 1));
  return ambit__node_plain(g, EXPR_MOD, AMBIT_I32, x, ambit__node_int(g, n), NULL);
}

/* ---- the smaller and the larger one ---- */

static node *extreme(graph *g, node *x, node *y, bool most)
{
  node *test = ambit__node_plain(g, EXPR_LT, AMBIT_I32, x, y, NULL);

  return ambit__node_plain(g, EXPR_COND, AMBIT_I32, test, most ? y : x, most ? x : y);
}

/* Of two numbers, in either sense. */
static node *better(node *x, node *y, bool most)
{
  return (x->e.value.integer < y->e.value.integer) == most ? y : x;
}

node *ambit__node_least(graph *g, node *x, node *y)
{
  node *root;

  if (x->range.high <= y->range.low) return x;
  if (y->range.high <= x->range.low) return y;
  put_in_order(&x, &y);
  if (is_number(y) && ambit__expr_is_least(&x->e) && is_number(b_of(a_of(x))))
    return ambit__node_least(g, a_of(a_of(x)), better(b_of(a_of(x)), y, false));
  root = is_number(y) ? ambit__node_cut_root(g, x, y->e.value.integer) : NULL;
  return root ? root : extreme(g, x, y, false);
}

/* A value that is cut off on both sides is cut off below first. */
node *ambit__node_most(graph *g, node *x, node *y)
{
  if (x->range.high <= y->range.low) return y;
  if (y->range.high <= x->range.low) return x;
  put_in_order(&x, &y);
  if (negative(g, x) == y) return ambit__node_abs(g, x);
  if (is_number(y) && ambit__expr_is_most(&x->e) && is_number(b_of(a_of(x))))
    return ambit__node_most(g, a_of(a_of(x)), better(b_of(a_of(x)), y, true));
  if (is_number(y) && ambit__expr_is_least(&x->e) && is_number(b_of(a_of(x))))
    return ambit__node_least(g, ambit__node_most(g, a_of(a_of(x)), y), b_of(a_of(x)));
  return extreme(g, x, y, true);
}

node *ambit__node_abs(graph *g, node *x)
{
  if (x->range.low >= 0) return x;
  if (x->range.high <= 0 || (x->nterms && x->terms[x->nterms - 1].weight < 0)) x = negative(g, x);
  if (x->range.low >= 0) return x;
  return ambit__node_call(g, CALL_abs, AMBIT_I32, x, NULL, NULL);
}

/* ---- conditions ---- */

/* Whether a node is 0 or 1. */
static bool is_truth(const node *n)
{
  if (n->nterms || n->e.type != AMBIT_I32) return false;
  if (n->e.op == EXPR_COND) return is_truth(b_of(n)) && is_truth(ambit__node_c(n));
  return is_int(n, 0) || is_int(n, 1) || n->e.op == EXPR_NOT ||
         (n->e.op >= EXPR_LT && n->e.op <= EXPR_LOR);
}

static node *raw(graph *g, ambit__op op, node *x, node *y)
{
  return ambit__node_plain(g, op, AMBIT_I32, x, y, NULL);
}

static node *raw_choice(graph *g, node *c, node *x, node *y)
{
  return ambit__node_plain(g, EXPR_COND, AMBIT_I32, c, x, y);
}

static node *logic(graph *g, ambit__op op, node *x, node *y);

/* !x */
static node *inverse(graph *g, node *x)
{
  const bool whole =
      !x->nterms && x->e.op >= EXPR_LT && x->e.op <= EXPR_NE && is_integer(x->e.a->type);

  if (is_number(x)) return ambit__node_int(g, !x->e.value.integer);
  if (x->e.op == EXPR_NOT) return a_of(x);
  if (x->e.op == EXPR_LAND || x->e.op == EXPR_LOR)
    return logic(g, x->e.op == EXPR_LAND ? EXPR_LOR : EXPR_LAND, inverse(g, a_of(x)),
                 inverse(g, b_of(x)));
  if (x->e.op == EXPR_COND)
    return raw_choice(g, a_of(x), inverse(g, b_of(x)), inverse(g, ambit__node_c(x)));
  if (!whole) return ambit__node_plain(g, EXPR_NOT, AMBIT_I32, x, NULL, NULL);
  switch (x->e.op) {
  case EXPR_EQ: return raw(g, EXPR_NE, a_of(x), b_of(x));
  case EXPR_NE: return raw(g, EXPR_EQ, a_of(x), b_of(x));
  case EXPR_LT: return ambit__node_order(g, EXPR_GE, a_of(x), b_of(x));
  case EXPR_GT: return ambit__node_order(g, EXPR_LE, a_of(x), b_of(x));
  case EXPR_LE: return ambit__node_order(g, EXPR_GT, a_of(x), b_of(x));
  default: return ambit__node_order(g, EXPR_LT, a_of(x), b_of(x));
  }
}

/* Anything as 0 or 1. */
static node *truth(graph *g, node *x)
{
  return is_truth(x) ? x : ambit__node_order(g, EXPR_NE, x, ambit__node_int(g, 0));
}

static node *logic(graph *g, ambit__op op, node *x, node *y)
{
  const bool decides = op == EXPR_LOR;

  x = truth(g, x);
  y = truth(g, y);
  put_in_order(&x, &y);
  if (is_number(x) || is_number(y)) {
    const node *number = is_number(x) ? x : y;

    return (number->e.value.integer != 0) == decides ? ambit__node_int(g, decides)
           : is_number(x)                            ? y
                                                     : x;
  }
  if (x == y) return x;
  if (inverse(g, x) == y) return ambit__node_int(g, decides);
  return raw(g, op, x, y);
}

/* x < k or x > k. */
static node *order_to_number(graph *g, ambit__op op, node *x, int64_t k)
{
  const ambit__range r = x->range;

  if (op == EXPR_LE) return order_to_number(g, EXPR_LT, x, k + 1);
  if (op == EXPR_GE) return order_to_number(g, EXPR_GT, x, k - 1);
  if ((op == EXPR_EQ || op == EXPR_NE) && (k < r.low || k > r.high))
    return ambit__node_int(g, op == EXPR_NE);
  if (op == EXPR_EQ && k == r.low) return order_to_number(g, EXPR_LT, x, k + 1);
  if (op == EXPR_EQ && k == r.high) return order_to_number(g, EXPR_GT, x, k - 1);
  if (op == EXPR_NE && k == r.low) return order_to_number(g, EXPR_GT, x, k);
  if (op == EXPR_NE && k == r.high) return order_to_number(g, EXPR_LT, x, k);
  if (op == EXPR_LT && (r.high < k || r.low >= k)) return ambit__node_int(g, r.high < k);
  if (op == EXPR_GT && (r.low > k || r.high <= k)) return ambit__node_int(g, r.low > k);
  if (is_truth(x)) return op == EXPR_LT ? inverse(g, x) : x;
  return raw(g, op, x, ambit__node_int(g, k));
}

static node *order(graph *g, ambit__op op, node *x, node *y)
{
  const ambit__range a = x->range, b = y->range;

  if (is_number(x) && !is_number(y)) return order(g, ambit__op_mirrored(op), y, x);
  if (is_number(y)) return order_to_number(g, op, x, y->e.value.integer);
  if (op == EXPR_GT || op == EXPR_GE) return order(g, ambit__op_mirrored(op), y, x);
  if (x == y) return ambit__node_int(g, op == EXPR_LE || op == EXPR_EQ);
  if (op == EXPR_LT && (a.high < b.low || a.low >= b.high))
    return ambit__node_int(g, a.high < b.low);
  if (op == EXPR_LE && (a.high <= b.low || a.low > b.high))
    return ambit__node_int(g, a.high <= b.low);
  if (op == EXPR_EQ || op == EXPR_NE) put_in_order(&x, &y);
  if ((op == EXPR_EQ || op == EXPR_NE) && (a.high < b.low || b.high < a.low))
    return ambit__node_int(g, op == EXPR_NE);
  return raw(g, op, x, y);
}

node *ambit__node_order(graph *g, ambit__op op, node *x, node *y)
{
  node *n = NULL;

  if (is_number(x) && is_number(y))
    return ambit__node_int(g,
                           ambit__value_binary((int)op, x->e.type, x->e.value, y->e.value).integer);
  if (!is_integer(x->e.type)) {
    n = ambit__node_real_order(g, op, x, y);
    return n ? n : raw(g, op, x, y);
  }
  if (!fits(x->range, AMBIT_I32) || !fits(y->range, AMBIT_I32)) return raw(g, op, x, y);
  return order(g, op, ambit__node_cast(g, x, AMBIT_I32), ambit__node_cast(g, y, AMBIT_I32));
}

/* ---- choices ---- */

/* Whether a value does not fall when p rises. */
static bool rises(const node *n, const node *p)
{
  const node *root = ambit__node_rooted(n);

  if (n == p || is_number(n)) return true;
  if (n->base != p->base) return false;
  if (root) return rises(root, p);
  if (n->nterms)
    return n->nterms == 1 && n->terms[0].weight > 0 && rises(n->terms[0].value, p) && !may_wrap(n);
  if (ambit__expr_is_extreme(&n->e)) return rises(b_of(n), p) && rises(ambit__node_c(n), p);
  if (n->e.op == EXPR_CAST)
    return is_integer(n->e.a->type) && fits(a_of(n)->range, n->e.type) && rises(a_of(n), p);
  return (n->e.op == EXPR_SHR || n->e.op == EXPR_DIV) && is_number(b_of(n)) &&
         n->e.b->value.integer > 0 && rises(a_of(n), p);
}

/* Whether a constant c lies between the values of a rising function of p on both sides of k: then p
 * < k ? f : c is the smaller one of f and c, and p < k ? c : f the larger one. */
static bool is_between(graph *g, const node *f, const node *p, int64_t k, const node *c)
{
  int64_t before, after;

  if (!is_number(c) || is_number(f) || !rises(f, p)) return false;
  before = ambit__node_evaluate(g, f, p, (ambit__value){.integer = k - 1}).integer;
  after = ambit__node_evaluate(g, f, p, (ambit__value){.integer = k}).integer;
  return g->work > 0 && before <= c->e.value.integer && c->e.value.integer <= after;
}

/* Both sides are 0 or 1. */
static node *choice_of_truths(graph *g, node *c, node *x, node *y)
{
  if (is_int(x, 1)) return logic(g, EXPR_LOR, c, y);
  if (is_int(x, 0)) return logic(g, EXPR_LAND, inverse(g, c), y);
  if (is_int(y, 0)) return logic(g, EXPR_LAND, c, x);
  if (is_int(y, 1)) return logic(g, EXPR_LOR, inverse(g, c), x);
  return raw_choice(g, c, x, y);
}

/* The other one of two values whose smaller or larger one a node is; NULL: it is none of them. */
static node *other_of(const node *n, const node *one, bool most)
{
  if (most ? !ambit__expr_is_most(&n->e) : !ambit__expr_is_least(&n->e)) return NULL;
  if (b_of(n) == one) return ambit__node_c(n);
  return ambit__node_c(n) == one ? b_of(n) : NULL;
}

/* c, if a node is c cut off at low and high, in either order; else NULL. */
static node *uncut(const node *n, const node *low, const node *high)
{
  const node *below = other_of(n, high, false), *above = other_of(n, low, true);
  node *c = below ? other_of(below, low, true) : NULL;

  return c || !above ? c : other_of(above, high, false);
}

/* The one in the middle of three. */
static node *median(graph *g, node *p, node *q, node *c)
{
  return ambit__node_most(g, ambit__node_least(g, p, q),
                          ambit__node_least(g, ambit__node_most(g, p, q), c));
}

/* p < q ? x : y */
static node *choice_by_order(graph *g, node *c, node *x, node *y)
{
  node *p = a_of(c), *q = b_of(c), *middle = uncut(x, p, q);
  const int64_t k = q->e.value.integer;

  if (x == p && y == q) return ambit__node_least(g, p, q);
  if (x == q && y == p) return ambit__node_most(g, p, q);
  if (is_number(q) && (k == 0 || k == 1) && negative(g, x) == y) {
    if (y == p) return ambit__node_abs(g, p);
    if (x == p) return negative(g, ambit__node_abs(g, p));
  }
  if (middle && middle == uncut(y, q, p)) return median(g, p, q, middle);
  if (is_number(q) && is_between(g, x, p, k, y)) return ambit__node_least(g, x, y);
  if (is_number(q) && is_between(g, y, p, k, x)) return ambit__node_most(g, y, x);
  return NULL;
}

/* Whether two sums differ by their constants alone. */
static bool is_moved(const node *x, const node *y)
{
  const ambit__node_term one = {(node *)x, 1}, other = {(node *)y, 1};
  const ambit__node_term *a = x->nterms ? x->terms : &one, *b = y->nterms ? y->terms : &other;
  const int n = x->nterms ? x->nterms : 1, m = y->nterms ? y->nterms : 1;

  if (n != m || is_number(x) || is_number(y)) return false;
  for (int i = 0; i < n; i++)
    if (a[i].value != b[i].value || a[i].weight != b[i].weight) return false;
  return true;
}

/* Of ints. Comparisons of numbers that no int can hold stay as they are. */
static node *choice(graph *g, node *c, node *x, node *y)
{
  const bool whole = c->e.op >= EXPR_LT && c->e.op <= EXPR_NE && c->e.a->type == AMBIT_I32;
  node *n;

  if (is_number(c)) return c->e.value.integer ? x : y;
  if (x == y) return x;
  if (c->e.op == EXPR_NOT) return choice(g, a_of(c), y, x);
  if (is_moved(x, y)) /* if (c) n++; */
    return ambit__node_sum(g, y, 1, c, (int64_t)x->constant - y->constant, 0);
  if (whole && (c->e.op == EXPR_GT || c->e.op == EXPR_LE || c->e.op == EXPR_NE)) {
    node *other = c->e.op == EXPR_GT && is_number(b_of(c))
                      ? raw(g, EXPR_LT, a_of(c), ambit__node_int(g, c->e.b->value.integer + 1))
                      : inverse(g, c);

    return choice(g, other, y, x);
  }
  if (is_truth(x) && is_truth(y)) return choice_of_truths(g, c, x, y);
  n = whole && c->e.op == EXPR_LT ? choice_by_order(g, c, x, y) : NULL;
  return n ? n : raw_choice(g, c, x, y);
}

node *ambit__node_choice(graph *g, node *c, node *x, node *y)
{
  const ambit_type type = x->e.type;

  c = truth(g, c);
  if (is_number(c)) return c->e.value.integer ? x : y;
  if (x == y) return x;
  if (!is_integer(type) || !fits(x->range, AMBIT_I32) || !fits(y->range, AMBIT_I32))
    return ambit__node_plain(g, EXPR_COND, type, c, x, y);
  return ambit__node_cast(
      g, choice(g, c, ambit__node_cast(g, x, AMBIT_I32), ambit__node_cast(g, y, AMBIT_I32)), type);
}

/* ---- conversions ---- */

static node *cast_from_real(graph *g, node *x, ambit_type type)
{
  const ambit__range all = ambit__range_of_type(type == AMBIT_I64 ? AMBIT_I32 : type);
  node *n = type == AMBIT_I64 ? NULL : ambit__node_whole(g, x);

  if (!n) return ambit__node_plain(g, EXPR_CAST, type, x, NULL, NULL);
  n = ambit__node_most(g, n, ambit__node_int(g, all.low));
  n = ambit__node_least(g, n, ambit__node_int(g, all.high));
  return ambit__node_cast(g, n, type);
}

node *ambit__node_cast(graph *g, node *x, ambit_type type)
{
  const bool from_real = !is_integer(x->e.type), to_real = !is_integer(type);
  const node *inner = x->e.op == EXPR_CAST ? a_of(x) : NULL;

  if (x->e.type == type) return x;
  if (is_number(x))
    return ambit__node_number(g, type, ambit__value_cast(x->e.value, x->e.type, type));
  if (from_real && to_real) return ambit__node_plain(g, EXPR_CAST, type, x, NULL, NULL);
  if (from_real) return cast_from_real(g, x, type);
  if (inner && is_integer(inner->e.type) &&
      (fits(inner->range, x->e.type) ||
       (!to_real && ambit_type_size(type) <= ambit_type_size(x->e.type))))
    return ambit__node_cast(g, a_of(x), type);
  if (to_real && x->e.type != AMBIT_I32 && fits(x->range, AMBIT_I32))
    x = ambit__node_cast(g, x, AMBIT_I32);
  return ambit__node_plain(g, EXPR_CAST, type, x, NULL, NULL);
}

/* ---- operations ---- */

static node *fold(graph *g, const ambit__expr *like, const node *a, const node *b, const node *c)
{
  const ambit__value none = {0};
  ambit__expr e = *like;

  e.a = &a->e;
  return ambit__node_number(
      g, e.type,
      ambit__operation_value(
          &e, (ambit__value[]){a->e.value, b ? b->e.value : none, c ? c->e.value : none}));
}

/* The sum of the low bits of the terms, with weights that are not negative: it has the same low
 * bits, up to the mask k, 2^n - 1. NULL: it is no byte. */
static node *low_sum(graph *g, const node *x, int64_t k)
{
  node *total = ambit__node_int(g, x->constant & k);

  for (int i = 0; i < x->nterms; i++)
    total =
        ambit__node_sum(g, total, 1, bits(g, EXPR_AND, x->terms[i].value, ambit__node_int(g, k)),
                        x->terms[i].weight & k, 0);
  return total->range.low >= 0 && total->range.high <= UINT8_MAX ? total : NULL;
}

/* x & k of an x that is no byte: the operands are masked where they can be bytes then. */
static node *masked(graph *g, node *x, int64_t k)
{
  const int64_t weight = x->nterms == 1 && !x->constant ? x->terms[0].weight : 0;
  node *mask = ambit__node_int(g, k), *a, *b;

  if (weight > 0 && !(weight & (weight - 1)))
    return ambit__node_sum(g, bits(g, EXPR_AND, x->terms[0].value, ambit__node_int(g, k / weight)),
                           weight, NULL, 0, 0);
  if (x->nterms && !(k & (k + 1))) {
    a = low_sum(g, x, k);
    return raw(g, EXPR_AND, a ? a : x, mask);
  }
  if (x->nterms || (x->e.op != EXPR_OR && x->e.op != EXPR_XOR)) return raw(g, EXPR_AND, x, mask);
  a = bits(g, EXPR_AND, a_of(x), mask);
  b = bits(g, EXPR_AND, b_of(x), mask);
  if (a == raw(g, EXPR_AND, a_of(x), mask) && b == raw(g, EXPR_AND, b_of(x), mask))
    return raw(g, EXPR_AND, x, mask);
  return bits(g, x->e.op, a, b);
}

static node *bits(graph *g, ambit__op op, node *x, node *y)
{
  int64_t all = 1;

  put_in_order(&x, &y);
  if (is_truth(x) && is_truth(y) && op != EXPR_XOR)
    return logic(g, op == EXPR_AND ? EXPR_LAND : EXPR_LOR, x, y);
  if (is_truth(x) && is_truth(y)) return order(g, EXPR_NE, x, y);
  while (all <= x->range.high)
    all *= 2;
  if (op == EXPR_AND && is_number(y) && x->range.low >= 0 &&
      (y->e.value.integer & (all - 1)) == all - 1)
    return x;
  if (op == EXPR_AND && is_number(y) && y->e.value.integer == 0) return y;
  if (op == EXPR_AND && is_number(y) && y->e.value.integer > 0 &&
      (x->range.low < 0 || x->range.high > UINT8_MAX))
    return masked(g, x, y->e.value.integer);
  return raw(g, op, x, y);
}

/* The low 32 bits of a long. */
static node *low_half(graph *g, node *x)
{
  if (x->e.op == EXPR_CAST && is_integer(x->e.a->type) && x->e.a->type != AMBIT_I64)
    return ambit__node_cast(g, a_of(x), AMBIT_I32);
  if (x->e.op == EXPR_ADD || x->e.op == EXPR_SUB)
    return ambit__node_sum(g, low_half(g, a_of(x)), 1, low_half(g, b_of(x)),
                           x->e.op == EXPR_ADD ? 1 : -1, 0);
  if (x->e.op == EXPR_MUL)
    return ambit__node_product(g, low_half(g, a_of(x)), low_half(g, b_of(x)));
  return ambit__node_cast(g, x, AMBIT_I32);
}

/* Whether a long is a place, a step, or a sum or multiple of these, which are never negative. */
static bool counts(const node *x)
{
  if (x->e.op == EXPR_ADD || x->e.op == EXPR_MUL) return counts(a_of(x)) && counts(b_of(x));
  if (is_number(x)) return x->e.value.integer >= 0;
  return x->e.op == EXPR_INDEX || x->e.op == EXPR_EXTENT || x->e.op == EXPR_STEP;
}

/* The low bits of a long, x & k or x % (k + 1); NULL: it is something else. */
static node *low_bits(graph *g, const ambit__expr *like, node *x, const node *y)
{
  const bool rest = like->op == EXPR_MOD;
  const int64_t n = is_number(y) ? y->e.value.integer : -1, k = rest ? n - 1 : n;

  if ((!rest && like->op != EXPR_AND) || k < 0 || k > INT32_MAX) return NULL;
  if (rest && (n & k || !counts(x))) return NULL;
  return bits(g, EXPR_AND, low_half(g, x), ambit__node_int(g, k));
}

/* An operation on ints; NULL: not simplified. */
static node *whole_operation(graph *g, const ambit__expr *like, node *a, node *b)
{
  const int64_t k = b && is_number(b) ? b->e.value.integer : -1;

  switch (like->op) {
  case EXPR_NEG: return negative(g, a);
  case EXPR_COMPL: return ambit__node_sum(g, a, -1, NULL, 0, -1);
  case EXPR_ADD: return ambit__node_sum(g, a, 1, b, 1, 0);
  case EXPR_SUB: return ambit__node_sum(g, a, 1, b, -1, 0);
  case EXPR_MUL: return ambit__node_product(g, a, b);
  case EXPR_DIV: return k > 0 ? ambit__node_divided(g, a, k) : NULL;
  case EXPR_MOD: return k > 0 ? remainder_of(g, a, k) : NULL;
  case EXPR_SHL:
    return k >= 0 && k < 31 ? ambit__node_sum(g, a, (int64_t)1 << k, NULL, 0, 0) : NULL;
  case EXPR_SHR: return k >= 0 && k < 32 ? ambit__node_shifted(g, a, (int)k) : NULL;
  case EXPR_AND:
  case EXPR_OR:
  case EXPR_XOR: return bits(g, like->op, a, b);
  case EXPR_CALL: return like->call == CALL_abs ? ambit__node_abs(g, a) : NULL;
  default: return NULL;
  }
}

/* Whether an operation on longs is one on ints: no operand and no result needs more. */
static bool is_short(const ambit__expr *like, const node *a, const node *b)
{
  const ambit__range none = {0, 0};
  ambit__expr e = *like;

  e.a = &a->e;
  e.b = b ? &b->e : NULL;
  return like->op != EXPR_SHL && like->op != EXPR_SHR && fits(a->range, AMBIT_I32) &&
         (!b || fits(b->range, AMBIT_I32)) &&
         fits(ambit__range_from(&e, a->range, b ? b->range : none, none), AMBIT_I32);
}

/* Whether an expression has its operands. */
static bool is_complete(const ambit__expr *like, const node *a, const node *b, const node *c)
{
  if (like->op < EXPR_NEG) return true;
  return a && (b || like->op < EXPR_ADD || like->op > EXPR_COND) && (c || like->op != EXPR_COND);
}

/* A look-up in a table of integers, with the range of its values. */
static node *known_look_up(graph *g, const ambit__expr *like, node *a, node *b)
{
  const ambit__table *t = ambit__graph_table(g, like->index);
  ambit__expr known = *like;
  ambit__range r = {INT32_MAX, INT32_MIN};

  if (!is_integer(t->type) || t->size[0] * t->size[1] > KNOWN_ENTRIES)
    return ambit__node_like(g, like, a, b, NULL);
  for (int64_t i = 0; i < t->size[0] * t->size[1]; i++) {
    const int64_t value = ambit__table_at(t, i / t->size[1], i % t->size[1]).integer;

    r.low = value < r.low ? value : r.low;
    r.high = value > r.high ? value : r.high;
  }
  if (r.low == r.high) return ambit__node_number(g, like->type, (ambit__value){.integer = r.low});
  if (r.low >= INT16_MIN && r.high <= UINT16_MAX) {
    known.offset[0] = (int)r.low;
    known.offset[1] = (int)r.high;
  }
  return ambit__node_like(g, &known, a, b, NULL);
}

static node *make(graph *g, const ambit__expr *like, node *a, node *b, node *c)
{
  const bool whole = a && is_integer(like->type) && is_integer(a->e.type);
  node *n = NULL;

  if (!is_complete(like, a, b, c)) {
    g->failed = true;
    return &g->nothing;
  }
  if (like->op == EXPR_CAST) return ambit__node_cast(g, a, like->type);
  if (like->op == EXPR_COND) return ambit__node_choice(g, a, b, c);
  if (like->op == EXPR_TABLE) return known_look_up(g, like, a, b);
  if (a && like->op != EXPR_TABLE && is_number(a) && (!b || is_number(b)) && (!c || is_number(c)))
    return fold(g, like, a, b, c);
  if (like->op == EXPR_NOT) return inverse(g, truth(g, a));
  if (like->op == EXPR_LAND || like->op == EXPR_LOR) return logic(g, like->op, a, b);
  if (like->op >= EXPR_LT && like->op <= EXPR_NE) return ambit__node_order(g, like->op, a, b);
  if (whole && like->type == AMBIT_I32 && like->op != EXPR_TABLE && a->e.type == AMBIT_I32 &&
      (!b || fits(b->range, AMBIT_I32)))
    n = whole_operation(g, like, a, b ? ambit__node_cast(g, b, AMBIT_I32) : NULL);
  if (whole && like->type == AMBIT_I64 && like->op != EXPR_TABLE && is_short(like, a, b)) {
    ambit__expr small = *like;

    small.type = AMBIT_I32;
    n = make(g, &small, ambit__node_cast(g, a, AMBIT_I32),
             b ? ambit__node_cast(g, b, AMBIT_I32) : NULL, NULL);
    return ambit__node_cast(g, n, AMBIT_I64);
  }
  if (whole && like->type == AMBIT_I64 && b) n = low_bits(g, like, a, b);
  if (n) return ambit__node_cast(g, n, like->type);
  return ambit__node_like(g, like, a, b, c);
}

node *ambit__node_make(graph *g, const ambit__expr *like, node *a, node *b, node *c)
{
  const bool wide = ambit__type_is_unsigned(like->type) && like->type != AMBIT_U8;
  ambit__expr read = *like;

  g->failed = g->failed || like->is_outside || wide;
  if (g->failed) return &g->nothing;
  if (like->op == EXPR_OUT && g->rule->params[like->index].kind == PARAM_FIELD) {
    read.op = EXPR_READ; /* the value that it has at first */
    like = &read;
  }
  return ambit__node_exact(g, make(g, like, a, b, c));
}
