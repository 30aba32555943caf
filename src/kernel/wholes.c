/* SPDX-License-Identifier: BSD-3-Clause */
/* wholes.c - integers that a rule computes in floating point.
 *
 * Pictures are often filtered in float or double and stored as bytes. Many of these numbers are
 * integers, or integers over a power of 2, and small enough to be exact: sums of bytes, multiples
 * by 0.25f, minima. Of others only the integer part counts, and it is known:
 *
 *   - of n / d with an integer d: the quotient is an integer or at least 1 / d away from one, and
 *     rounding moves it by less;
 *   - of a square root of n up to 2^22, for the same reason, in float and in double, also as
 *     hypot(x, y);
 *   - of a function of one integer with few values: by computing all of them. If they are those of
 *     (w n + c) / d, that is the function. If it calls pow or the like, a table takes its place.
 *
 * Where only the integer part or the order of numbers counts, 0 and -0 are the same.
 */
#include "kernel/graph.h"

#include <math.h>
#include <stdlib.h>

typedef ambit__graph_node node;
typedef ambit__graph graph;
typedef ambit__node_scaled scaled;

enum {
  MOST_SHIFT = 16,
  MOST_SQUARE = 1 << 22, /* whose roots are far enough from the next integer, in float */
  MOST_ROOT = 511,       /* that generated code computes in a fast way */
  MOST_VALUES = 4096,    /* of an integer, to compute a function of it for all of them */
  MOST_DIVISOR = 600,
  MOST_ENTRIES = 256 /* of a table */
};

/* Integers up to this one are exact. */
static int64_t limit_of(ambit_type type)
{
  return (int64_t)1 << (type == AMBIT_F32 ? 24 : 30);
}

static bool is_within(ambit__range r, int64_t most)
{
  return r.low >= -most && r.high <= most;
}

static bool is_call(const node *x, ambit__call call)
{
  return x->e.op == EXPR_CALL && x->e.call == call;
}

/* ---- integers over a power of 2 ---- */

static scaled scaled_of(graph *g, node *x);

/* The multiple of an integer by 2^shift, if it is not too large. */
static node *lifted(graph *g, node *n, int shift)
{
  if (!n || shift > MOST_SHIFT || !is_within(n->range, (int64_t)1 << (30 - shift))) return NULL;
  return ambit__node_sum(g, n, (int64_t)1 << shift, NULL, 0, 0);
}

/* Two numbers with one power of 2. */
static bool align(graph *g, scaled *a, scaled *b)
{
  const int shift = a->shift > b->shift ? a->shift : b->shift;

  if (!a->n || !b->n) return false;
  a->n = lifted(g, a->n, shift - a->shift);
  b->n = lifted(g, b->n, shift - b->shift);
  a->shift = b->shift = shift;
  return a->n && b->n;
}

static scaled scaled_number(graph *g, const node *x)
{
  double v = x->e.value.real;
  int shift = 0;

  for (; shift < MOST_SHIFT && v != floor(v); shift++)
    v *= 2;
  if (!(fabs(v) <= (double)limit_of(AMBIT_F32)) || v != floor(v)) return (scaled){NULL, 0};
  return (scaled){ambit__node_int(g, (int64_t)v), shift};
}

static scaled scaled_sum(graph *g, scaled a, scaled b, int sign)
{
  if (!align(g, &a, &b)) return (scaled){NULL, 0};
  return (scaled){ambit__node_sum(g, a.n, 1, b.n, sign, 0), a.shift};
}

/* Whether all terms of a sum that does not wrap are even. */
static bool is_even(const node *n)
{
  bool even = n->nterms && n->constant % 2 == 0 && is_within(n->range, 1 << 30);

  for (int i = 0; i < n->nterms; i++)
    even = even && n->terms[i].weight % 2 == 0;
  return even;
}

static scaled scaled_product(graph *g, scaled a, scaled b)
{
  scaled s = {NULL, a.shift + b.shift};

  if (!a.n || !b.n || s.shift > MOST_SHIFT) return s;
  /* the range of int, if the product may wrap, is beyond every limit */
  for (s.n = ambit__node_product(g, a.n, b.n); s.shift && is_even(s.n); s.shift--)
    s.n = ambit__node_reduced(g, s.n, 2);
  return s;
}

/* By a power of 2. */
static scaled scaled_quotient(scaled a, const node *by)
{
  const double v = ambit__node_is_number(by) ? by->e.value.real : 0;

  for (int shift = 0; shift <= MOST_SHIFT && a.n; shift++)
    if (v == (double)(1 << shift) && a.shift + shift <= MOST_SHIFT)
      return (scaled){a.n, a.shift + shift};
  return (scaled){NULL, 0};
}

static scaled scaled_choice(graph *g, const node *x, scaled a, scaled b)
{
  node *n;

  if (!align(g, &a, &b)) return (scaled){NULL, 0};
  n = is_call(x, CALL_fmin)   ? ambit__node_least(g, a.n, b.n)
      : is_call(x, CALL_fmax) ? ambit__node_most(g, a.n, b.n)
                              : ambit__node_choice(g, ambit__node_a(x), a.n, b.n);
  return (scaled){n, a.shift};
}

/* Rounded down, up or towards 0, or to the nearest integer, halves away from 0. */
static scaled scaled_integer(graph *g, const node *x, scaled a)
{
  if (!a.n || !a.shift) return a;
  if (is_call(x, CALL_floor)) return (scaled){ambit__node_shifted(g, a.n, a.shift), 0};
  if (is_call(x, CALL_trunc))
    return (scaled){ambit__node_divided(g, a.n, (int64_t)1 << a.shift), 0};
  if (is_call(x, CALL_ceil)) {
    node *n = ambit__node_shifted(g, ambit__node_sum(g, a.n, -1, NULL, 0, 0), a.shift);

    return (scaled){ambit__node_sum(g, n, -1, NULL, 0, 0), 0};
  }
  if (is_call(x, CALL_round) && a.n->range.low >= 0 && is_within(a.n->range, 1 << 30)) {
    node *n = ambit__node_sum(g, a.n, 1, NULL, 0, (int64_t)1 << (a.shift - 1));

    return (scaled){ambit__node_shifted(g, n, a.shift), 0};
  }
  return (scaled){NULL, 0};
}

static scaled scaled_call(graph *g, node *x)
{
  node *a = ambit__node_a(x), *b = ambit__node_b(x), *c = ambit__node_c(x);
  scaled s;

  switch (x->e.call) {
  case CALL_fabs:
    s = scaled_of(g, a);
    return (scaled){s.n ? ambit__node_abs(g, s.n) : NULL, s.shift};
  case CALL_fmin:
  case CALL_fmax: return scaled_choice(g, x, scaled_of(g, a), scaled_of(g, b));
  case CALL_fma:
    return scaled_sum(g, scaled_product(g, scaled_of(g, a), scaled_of(g, b)), scaled_of(g, c), 1);
  case CALL_floor:
  case CALL_ceil:
  case CALL_trunc:
  case CALL_rint:
  case CALL_round: return scaled_integer(g, x, scaled_of(g, a));
  default: return (scaled){NULL, 0};
  }
}

static scaled find_scaled(graph *g, node *x)
{
  node *a = ambit__node_a(x), *b = ambit__node_b(x);
  scaled s = {NULL, 0};

  switch (x->e.op) {
  case EXPR_CONST: return scaled_number(g, x);
  case EXPR_CAST:
    if (ambit__type_is_real(a->e.type)) return scaled_of(g, a);
    return (scaled){a->e.type == AMBIT_I32 ? a : NULL, 0};
  case EXPR_NEG:
    s = scaled_of(g, a);
    return (scaled){s.n ? ambit__node_sum(g, s.n, -1, NULL, 0, 0) : NULL, s.shift};
  case EXPR_ADD: return scaled_sum(g, scaled_of(g, a), scaled_of(g, b), 1);
  case EXPR_SUB: return scaled_sum(g, scaled_of(g, a), scaled_of(g, b), -1);
  case EXPR_MUL: return scaled_product(g, scaled_of(g, a), scaled_of(g, b));
  case EXPR_DIV: return scaled_quotient(scaled_of(g, a), b);
  case EXPR_COND: return scaled_choice(g, x, scaled_of(g, b), scaled_of(g, ambit__node_c(x)));
  case EXPR_CALL: return scaled_call(g, x);
  default: return s;
  }
}

/* Every operation on the way is exact, since its result has no more bits than the type. */
static scaled scaled_of(graph *g, node *x)
{
  if (!x->is_known) {
    scaled s = find_scaled(g, x);

    if (s.n && !is_within(s.n->range, limit_of(x->e.type))) s.n = NULL;
    x->is_known = true;
    x->of.scaled = s;
  }
  return x->of.scaled;
}

/* Whether a real, which is an integer, is never -0. */
static bool is_never_minus(const node *x)
{
  const node *a = ambit__node_a(x), *b = ambit__node_b(x);

  switch (x->e.op) {
  case EXPR_CONST: return !signbit(x->e.value.real);
  case EXPR_CAST: return !ambit__type_is_real(a->e.type) || is_never_minus(a);
  case EXPR_ADD: return is_never_minus(a) || is_never_minus(b);
  case EXPR_SUB: return is_never_minus(a);
  case EXPR_COND: return is_never_minus(b) && is_never_minus(ambit__node_c(x));
  case EXPR_MUL:
    return is_never_minus(a) && is_never_minus(b) && a->of.scaled.n->range.low >= 0 &&
           b->of.scaled.n->range.low >= 0;
  case EXPR_DIV: return is_never_minus(a);
  default: return is_call(x, CALL_fabs);
  }
}

node *ambit__node_exact(graph *g, node *x)
{
  const scaled s = ambit__type_is_real(x->e.type) && !ambit__node_is_number(x) ? scaled_of(g, x)
                                                                               : (scaled){NULL, 0};

  return s.n && !s.shift && is_never_minus(x) ? ambit__node_cast(g, s.n, x->e.type) : x;
}

/* ---- roots ---- */

static int64_t integer_root(int64_t n)
{
  int64_t root = 0;

  while ((root + 1) * (root + 1) <= n)
    root++;
  return root;
}

/* The int whose root a real is, or of whose squares; NULL: none. */
static node *square_of(graph *g, node *x)
{
  scaled a, b;
  node *n = NULL;

  if (x->e.op == EXPR_CAST && ambit__type_is_real(x->e.a->type)) {
    n = square_of(g, ambit__node_a(x));
  } else if (is_call(x, CALL_sqrt)) {
    a = scaled_of(g, ambit__node_a(x));
    n = a.shift ? NULL : a.n;
  } else if (is_call(x, CALL_hypot)) {
    a = scaled_of(g, ambit__node_a(x));
    b = scaled_of(g, ambit__node_b(x));
    if (a.n && b.n && !a.shift && !b.shift)
      n = ambit__node_sum(g, ambit__node_product(g, a.n, a.n), 1, ambit__node_product(g, b.n, b.n),
                          1, 0);
  }
  return n && n->range.low >= 0 && n->range.high <= MOST_SQUARE ? n : NULL;
}

/* (short)fminf(sqrtf((float)n), most), which is a byte if it fits. */
static node *make_root(graph *g, node *n, int64_t most)
{
  const bool cut = !n->nterms && ambit__expr_is_least(&n->e) && n->e.c->op == EXPR_CONST;
  const int64_t last = cut ? integer_root(n->e.c->value.integer) : most;
  const int64_t full = integer_root(n->range.high);
  const ambit__range range = {integer_root(n->range.low), most < full ? most : full};
  node *x;

  if (cut && ambit__node_b(n)->range.high <= MOST_SQUARE)
    return make_root(g, ambit__node_b(n), last < most ? last : most);
  x = ambit__node_call(g, CALL_sqrt, AMBIT_F32, ambit__node_cast(g, n, AMBIT_F32), NULL, NULL);
  node root = {.e = {.op = EXPR_CAST, .type = range.high <= UINT8_MAX ? AMBIT_U8 : AMBIT_I16}};

  if (most < full)
    x = ambit__node_call(g, CALL_fmin, AMBIT_F32, x,
                         ambit__node_number(g, AMBIT_F32, (ambit__value){.real = (double)most}),
                         NULL);
  root.e.a = &x->e;
  return ambit__node_cast(g, ambit__node_within(g, &root, range), AMBIT_I32);
}

node *ambit__node_rooted(const node *n)
{
  const node *x;

  if (n->e.op == EXPR_CAST && n->e.a->op == EXPR_CAST) n = ambit__node_a(n);
  if (n->e.op != EXPR_CAST || n->e.a->type != AMBIT_F32) return NULL;
  x = ambit__node_a(n);
  if (is_call(x, CALL_fmin) && ambit__node_is_number(ambit__node_b(x))) x = ambit__node_a(x);
  if (!is_call(x, CALL_sqrt) || x->e.a->op != EXPR_CAST || x->e.a->a->type != AMBIT_I32)
    return NULL;
  return ambit__node_a(ambit__node_a(x));
}

node *ambit__node_cut_root(graph *g, node *root, int64_t most)
{
  node *n = ambit__node_rooted(root);
  const bool fast = n && n->range.low >= 0 && n->range.high <= MOST_SQUARE;

  return fast && most >= 0 && most <= MOST_ROOT ? make_root(g, n, most) : NULL;
}

/* ---- functions of one integer ---- */

/* All values of a function. */
typedef struct values {
  int n;
  int64_t first;               /* the integer of values[0] */
  int32_t values[MOST_VALUES]; /* integer parts */
} values;

static bool has_few_values(const node *base)
{
  return base && !ambit__type_is_real(base->e.type) && base->range.low >= INT32_MIN &&
         base->range.high <= INT32_MAX && base->range.high - base->range.low < MOST_VALUES;
}

/* x may be real, then its integer parts are found. false: also if one is not a number, since minima
 * take no notice of it. */
static bool find_values(graph *g, const node *x, values *v)
{
  const node *base = x->base;

  if (!has_few_values(base)) return false;
  v->first = base->range.low;
  v->n = (int)(base->range.high - base->range.low + 1);
  for (int i = 0; i < v->n; i++) {
    const ambit__value at = {.integer = v->first + i};
    const ambit__value y = ambit__node_evaluate(g, x, base, at);

    if (ambit__type_is_real(x->e.type) && isnan(y.real)) return false;
    v->values[i] = (int32_t)ambit__value_cast(y, x->e.type, AMBIT_I32).integer;
  }
  return g->work > 0;
}

/* Whether all values are those of (w n + c) / d; sets c. */
static bool is_quotient(const values *v, int64_t w, int64_t d, int64_t *c)
{
  int64_t least = INT64_MIN, most = INT64_MAX;

  for (int i = 0; i < v->n && least <= most; i++) {
    const int64_t before = d * v->values[i] - w * (v->first + i);

    if (before > least) least = before;
    if (before + d - 1 < most) most = before + d - 1;
  }
  *c = least;
  return least <= most;
}

/* (w n + c) / d with the smallest d; NULL: there is none. */
static node *quotient(graph *g, node *n, const values *v)
{
  const double slope = v->n > 1 ? ((double)v->values[v->n - 1] - v->values[0]) / (v->n - 1) : 0;
  int64_t c;

  for (int i = 0; i < v->n; i++)
    if (v->values[i] < 0 || v->values[i] > INT16_MAX) return NULL;
  for (int64_t d = 1; d <= MOST_DIVISOR; d++)
    for (int64_t w = (int64_t)floor(slope * (double)d); w <= (int64_t)ceil(slope * (double)d); w++)
      if (is_quotient(v, w, d, &c) && ambit__node_sum(g, n, w, NULL, 0, c)->range.low >= 0)
        return ambit__node_divided(g, ambit__node_sum(g, n, w, NULL, 0, c), d);
  return NULL;
}

/* Whether it takes longer to compute a value than to look it up. */
static bool is_costly(const node *x, const node *base)
{
  if (!x || x == base) return false;
  if (x->e.op == EXPR_CALL && x->e.call != CALL_round && !ambit__call_is_cheap(x->e.call))
    return true;
  for (int i = 0; i < x->nterms; i++)
    if (is_costly(x->terms[i].value, base)) return true;
  return is_costly(ambit__node_a(x), base) || is_costly(ambit__node_b(x), base) ||
         is_costly(ambit__node_c(x), base);
}

/* The narrowest type of all values, and their range. */
static ambit_type type_of(const values *v, ambit__range *range)
{
  *range = (ambit__range){v->values[0], v->values[0]};
  for (int i = 1; i < v->n; i++) {
    if (v->values[i] < range->low) range->low = v->values[i];
    if (v->values[i] > range->high) range->high = v->values[i];
  }
  if (range->low >= 0 && range->high <= UINT8_MAX) return AMBIT_U8;
  return range->low >= INT16_MIN && range->high <= INT16_MAX ? AMBIT_I16 : AMBIT_I32;
}

/* f[n - first] with a new table f; NULL: too large. */
static node *look_up(graph *g, node *n, const values *v)
{
  static const char *const names[] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"};
  ambit__range range;
  const ambit_type type = type_of(v, &range);
  const size_t size = ambit_type_size(type);
  unsigned char *to;
  node at = {.e = {.op = EXPR_TABLE, .type = type, .index = g->rule->ntables + g->ntables}};

  if (v->n > MOST_ENTRIES || g->ntables == AMBIT__GRAPH_TABLES) return NULL;
  to = ambit__graph_take(g, (size_t)v->n * size);
  if (!to) return NULL;
  for (int i = 0; i < v->n; i++)
    ambit__value_store(to + (size_t)i * size, type, (ambit__value){.integer = v->values[i]});
  g->tables[g->ntables] = (ambit__table){.label = names[g->ntables],
                                         .name = names[g->ntables],
                                         .type = type,
                                         .naxes = 1,
                                         .size = {v->n, 1},
                                         .is_looked_up = true,
                                         .values = to};
  g->ntables++;
  at.e.a = &ambit__node_sum(g, n, 1, NULL, 0, -v->first)->e;
  return ambit__node_cast(g, ambit__node_within(g, &at, range), AMBIT_I32);
}

/* The integer parts of a function of one integer. */
static node *fitted(graph *g, const node *x)
{
  values v;
  node *base, *n;

  if (!find_values(g, x, &v)) return NULL;
  base = ambit__node_cast(g, x->base, AMBIT_I32);
  n = quotient(g, base, &v);
  return n || !is_costly(x, x->base) ? n : look_up(g, base, &v);
}

/* ---- integer parts ---- */

/* Of n / d. */
static node *whole_quotient(graph *g, const node *x)
{
  const scaled n = scaled_of(g, ambit__node_a(x)), d = scaled_of(g, ambit__node_b(x));

  if (!n.n || !d.n || n.shift || d.shift || !ambit__node_is_number(d.n)) return NULL;
  if (d.n->e.value.integer <= 0 || !is_within(n.n->range, MOST_SQUARE)) return NULL;
  return ambit__node_divided(g, n.n, d.n->e.value.integer);
}

/* Of the smaller or larger one of two, or one of two by a condition. */
static node *whole_choice(graph *g, node *x)
{
  const bool choice = x->e.op == EXPR_COND;
  node *a = ambit__node_whole(g, choice ? ambit__node_b(x) : ambit__node_a(x));
  node *b = a ? ambit__node_whole(g, choice ? ambit__node_c(x) : ambit__node_b(x)) : NULL;

  if (!b) return NULL;
  return choice                  ? ambit__node_choice(g, ambit__node_a(x), a, b)
         : is_call(x, CALL_fmin) ? ambit__node_least(g, a, b)
                                 : ambit__node_most(g, a, b);
}

node *ambit__node_whole(graph *g, node *x)
{
  const scaled s = scaled_of(g, x);
  node *n = square_of(g, x);

  if (s.n) return ambit__node_divided(g, s.n, (int64_t)1 << s.shift);
  if (n) return make_root(g, n, INT16_MAX);
  if (x->e.op == EXPR_DIV && (n = whole_quotient(g, x)) != NULL) return n;
  if (x->e.op == EXPR_CAST && x->e.a->type == AMBIT_F32)
    return ambit__node_whole(g, ambit__node_a(x));
  if (x->e.op == EXPR_COND || is_call(x, CALL_fmin) || is_call(x, CALL_fmax))
    if ((n = whole_choice(g, x)) != NULL) return n;
  if (is_call(x, CALL_trunc)) return ambit__node_whole(g, ambit__node_a(x));
  return fitted(g, x);
}

/* ---- comparisons ---- */

/* The root x of an integer, in the type that it has. */
static ambit__value root_value(const node *x, int64_t square)
{
  const bool cast = x->e.op == EXPR_CAST, exact = is_call(x, CALL_sqrt);
  const ambit__value n = {.real = (double)square};

  if (cast) return ambit__value_cast(root_value(ambit__node_a(x), square), x->e.a->type, x->e.type);
  return ambit__value_cast(ambit__value_call(CALL_sqrt, exact ? x->e.type : AMBIT_F64, n, n, n),
                           exact ? x->e.type : AMBIT_F64, x->e.type);
}

/* A root of n, which rises with n, compared with a constant: n is compared with another one. */
static node *root_order(graph *g, ambit__op op, const node *x, const node *y, node *n)
{
  int64_t low = n->range.low, high = n->range.high + 1;
  bool first = false;

  for (int64_t at = low; at < high; at = low + (high - low) / 2) {
    const ambit__value root = root_value(x, at);
    const bool is = ambit__value_binary((int)op, x->e.type, root, y->e.value).integer != 0;

    if (at == n->range.low) first = is;
    if (is == first)
      low = at + 1;
    else
      high = at;
  }
  return ambit__node_order(g, first ? EXPR_LT : EXPR_GE, n, ambit__node_int(g, high));
}

/* Whether a function of one integer changes from false to true, or back, once. */
static node *step(graph *g, const node *test)
{
  int changes = 0, last = 0;
  values v;

  if (!find_values(g, test, &v)) return NULL;
  for (int i = 1; i < v.n; i++)
    if (v.values[i] != v.values[i - 1]) {
      changes++;
      last = i;
    }
  if (changes != 1) return changes ? NULL : ambit__node_int(g, v.values[0]);
  return ambit__node_order(g, v.values[0] ? EXPR_LT : EXPR_GE,
                           ambit__node_cast(g, test->base, AMBIT_I32),
                           ambit__node_int(g, v.first + last));
}

node *ambit__node_real_order(graph *g, ambit__op op, node *x, node *y)
{
  scaled a, b;
  node *n;

  if (ambit__node_is_number(x)) return ambit__node_real_order(g, ambit__op_mirrored(op), y, x);
  a = scaled_of(g, x);
  b = scaled_of(g, y);
  if (align(g, &a, &b)) return ambit__node_order(g, op, a.n, b.n);
  n = square_of(g, x);
  if (n && ambit__node_is_number(y) && op != EXPR_EQ && op != EXPR_NE)
    return root_order(g, op, x, y, n);
  n = ambit__node_plain(g, op, AMBIT_I32, x, y, NULL);
  return has_few_values(n->base) ? step(g, n) : NULL;
}
