/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel/range.h"

#include "base/integers.h"

#include <math.h>
#include <string.h>

/* Beyond this the products of two bounds may overflow; nothing is known of such values. */
#define FAR ((int64_t)1 << 31)

ambit__range ambit__range_of_type(ambit_type type)
{
  switch (type) {
  case AMBIT_U8: return (ambit__range){0, UINT8_MAX};
  case AMBIT_I16: return (ambit__range){INT16_MIN, INT16_MAX};
  case AMBIT_I32: return (ambit__range){INT32_MIN, INT32_MAX};
  case AMBIT_U16: return (ambit__range){0, UINT16_MAX};
  case AMBIT_U32: return (ambit__range){0, UINT32_MAX};
  default: return (ambit__range){INT64_MIN, INT64_MAX};
  }
}

static bool is_near(ambit__range r)
{
  return r.low >= -FAR && r.high <= FAR;
}

/* A range that may exceed its type: then values wrap. Nothing is known of unsigned numbers of 64
 * bits, unless they are less than 2^63. */
static ambit__range within(ambit__range r, ambit_type type)
{
  const ambit__range all = ambit__range_of_type(type);

  if (type == AMBIT_U64 && r.low < 0) return all;
  return r.low < all.low || r.high > all.high ? all : r;
}

ambit__range ambit__range_hull(ambit__range a, ambit__range b)
{
  return (ambit__range){ambit__min64(a.low, b.low), ambit__max64(a.high, b.high)};
}

static ambit__range product(ambit__range a, ambit__range b)
{
  const int64_t w = a.low * b.low, x = a.low * b.high, y = a.high * b.low, z = a.high * b.high;

  return (ambit__range){ambit__min64(ambit__min64(w, x), ambit__min64(y, z)),
                        ambit__max64(ambit__max64(w, x), ambit__max64(y, z))};
}

static ambit__range square(ambit__range a)
{
  const int64_t far = ambit__max64(-a.low, a.high);
  const int64_t near = a.low > 0 ? a.low : a.high < 0 ? -a.high : 0;

  return (ambit__range){near * near, far * far};
}

bool ambit__expr_is_same(const ambit__expr *a, const ambit__expr *b)
{
  if (a == b) return true;
  if (a->op != b->op || a->type != b->type) return false;
  switch (a->op) {
  case EXPR_LOCAL: return a->index == b->index;
  case EXPR_CONST: return !ambit__type_is_real(a->type) && a->value.integer == b->value.integer;
  case EXPR_READ:
    return a->index == b->index && a->component == b->component &&
           !memcmp(a->offset, b->offset, sizeof a->offset);
  case EXPR_CAST: return ambit__expr_is_same(a->a, b->a);
  default: return false;
  }
}

bool ambit__expr_is_least(const ambit__expr *e)
{
  return e->op == EXPR_COND && e->a->op == EXPR_LT && ambit__expr_is_same(e->a->a, e->b) &&
         ambit__expr_is_same(e->a->b, e->c);
}

bool ambit__expr_is_most(const ambit__expr *e)
{
  return e->op == EXPR_COND && e->a->op == EXPR_LT && ambit__expr_is_same(e->a->a, e->c) &&
         ambit__expr_is_same(e->a->b, e->b);
}

bool ambit__expr_is_extreme(const ambit__expr *e)
{
  return ambit__expr_is_least(e) || ambit__expr_is_most(e);
}

static ambit__range choice(const ambit__expr *e, ambit__range b, ambit__range c)
{
  if (e->type == AMBIT_U64) return within(ambit__range_hull(b, c), e->type);
  if (ambit__expr_is_least(e))
    return (ambit__range){ambit__min64(b.low, c.low), ambit__min64(b.high, c.high)};
  if (ambit__expr_is_most(e))
    return (ambit__range){ambit__max64(b.low, c.low), ambit__max64(b.high, c.high)};
  return ambit__range_hull(b, c);
}

/* No result has more bits than both operands, and a sign only if one of them may have it. */
static ambit__range bits(const ambit__expr *e, ambit__range a, ambit__range b)
{
  int64_t all = 1;

  if (e->op == EXPR_AND && (a.low >= 0 || b.low >= 0))
    return (ambit__range){0, a.low < 0   ? b.high
                             : b.low < 0 ? a.high
                                         : ambit__min64(a.high, b.high)};
  while (all <= ambit__max64(ambit__max64(a.high, -1 - a.low), ambit__max64(b.high, -1 - b.low)))
    all *= 2;
  return (ambit__range){a.low < 0 || b.low < 0 ? -all : 0, all - 1};
}

/* Quotients, remainders and shifts by a constant; >> rounds down. */
static ambit__range divided(const ambit__expr *e, ambit__range a)
{
  const int64_t n = e->b->op == EXPR_CONST ? e->b->value.integer : 0;

  if (e->op == EXPR_DIV && n > 0) return (ambit__range){a.low / n, a.high / n};
  if (e->op == EXPR_MOD && n > 0) return (ambit__range){a.low < 0 ? 1 - n : 0, n - 1};
  if (e->op == EXPR_SHR && e->b->op == EXPR_CONST && n >= 0 && n < 31)
    return (ambit__range){a.low >> n, a.high >> n};
  if (e->op == EXPR_SHL && e->b->op == EXPR_CONST && n >= 0 && n < 31)
    return within(product(a, (ambit__range){(int64_t)1 << n, (int64_t)1 << n}), e->type);
  return ambit__range_of_type(e->type);
}

static ambit__range binary(const ambit__expr *e, ambit__range a, ambit__range b)
{
  if (!is_near(a) || !is_near(b)) return ambit__range_of_type(e->type);
  switch (e->op) {
  case EXPR_ADD: return within((ambit__range){a.low + b.low, a.high + b.high}, e->type);
  case EXPR_SUB: return within((ambit__range){a.low - b.high, a.high - b.low}, e->type);
  case EXPR_MUL:
    return within(ambit__expr_is_same(e->a, e->b) ? square(a) : product(a, b), e->type);
  case EXPR_AND:
  case EXPR_OR:
  case EXPR_XOR: return bits(e, a, b);
  default: return divided(e, a);
  }
}

static ambit__range unary(const ambit__expr *e, ambit__range a)
{
  if (e->op == EXPR_CAST && !ambit__type_is_real(e->a->type)) return within(a, e->type);
  if (e->op == EXPR_NEG && is_near(a)) return within((ambit__range){-a.high, -a.low}, e->type);
  if (e->op == EXPR_COMPL && is_near(a) && !ambit__type_is_unsigned(e->type))
    return (ambit__range){-1 - a.high, -1 - a.low};
  if (e->op == EXPR_CALL && e->call == CALL_abs && is_near(a))
    return within((ambit__range){a.low > 0    ? a.low
                                 : a.high < 0 ? -a.high
                                              : 0,
                                 ambit__max64(-a.low, a.high)},
                  e->type);
  return ambit__range_of_type(e->type);
}

ambit__range ambit__range_from(const ambit__expr *e, ambit__range a, ambit__range b, ambit__range c)
{
  if (ambit__type_is_real(e->type)) return ambit__range_of_type(AMBIT_I64);
  switch (e->op) {
  case EXPR_CONST: return within((ambit__range){e->value.integer, e->value.integer}, e->type);
  case EXPR_NORMAL: return (ambit__range){-1, 1};
  case EXPR_TABLE:
    return e->offset[0] < e->offset[1] ? (ambit__range){e->offset[0], e->offset[1]}
                                       : ambit__range_of_type(e->type);
  case EXPR_NEG:
  case EXPR_COMPL:
  case EXPR_CAST:
  case EXPR_CALL: return unary(e, a);
  case EXPR_COND: return choice(e, b, c);
  case EXPR_NOT:
  case EXPR_LT:
  case EXPR_LE:
  case EXPR_GT:
  case EXPR_GE:
  case EXPR_EQ:
  case EXPR_NE:
  case EXPR_LAND:
  case EXPR_LOR: return (ambit__range){0, 1};
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_MUL:
  case EXPR_DIV:
  case EXPR_MOD:
  case EXPR_AND:
  case EXPR_OR:
  case EXPR_XOR:
  case EXPR_SHL:
  case EXPR_SHR: return binary(e, a, b);
  default: return ambit__range_of_type(e->type);
  }
}

ambit__range ambit__range_of(const ambit__range *locals, const ambit__expr *e)
{
  ambit__range of[3] = {{0, 0}, {0, 0}, {0, 0}};
  const bool test =
      e->op >= EXPR_NOT && (e->op == EXPR_NOT || (e->op >= EXPR_LT && e->op <= EXPR_LOR));

  if (e->op == EXPR_LOCAL && !ambit__type_is_real(e->type)) return locals[e->index];
  if (ambit__type_is_real(e->type) || test || e->op == EXPR_TABLE)
    return ambit__range_from(e, of[0], of[1], of[2]);
  if (e->a && e->op != EXPR_COND) of[0] = ambit__range_of(locals, e->a);
  if (e->b) of[1] = ambit__range_of(locals, e->b);
  if (e->c) of[2] = ambit__range_of(locals, e->c);
  return ambit__range_from(e, of[0], of[1], of[2]);
}

/* ---- reals ---- */

/* k * x * x */
static bool is_squared(const ambit__expr *e)
{
  const ambit__expr *x = e->b, *other = e->a;

  if (ambit__expr_is_same(other, x)) return true;
  if (other->op != EXPR_MUL) return false;
  return (other->a->op == EXPR_CONST && other->a->value.real >= 0 &&
          ambit__expr_is_same(other->b, x));
}

static double least_of(const ambit__rule *rule, const ambit__expr *e, int depth)
{
  const ambit__expr *only = e->op == EXPR_LOCAL ? ambit__only_value(rule, e->index) : NULL;
  const int inside = depth - 1;
  double a, b;

  if (only) e = only;
  if (!depth || !ambit__type_is_real(e->type)) return -1;
  switch (e->op) {
  case EXPR_CONST: return e->value.real >= 0 ? e->value.real : -1;
  case EXPR_CAST: return least_of(rule, e->a, inside);
  case EXPR_ADD:
  case EXPR_MUL:
  case EXPR_DIV:
    if (e->op == EXPR_MUL && is_squared(e)) return 0;
    a = least_of(rule, e->a, inside);
    b = a < 0 ? -1 : least_of(rule, e->b, inside);
    return b < 0 ? -1 : e->op == EXPR_ADD ? a + b : e->op == EXPR_MUL ? a * b : 0;
  case EXPR_COND: return fmin(least_of(rule, e->b, inside), least_of(rule, e->c, inside));
  case EXPR_CALL:
    if (e->call == CALL_fmax)
      return fmax(least_of(rule, e->a, inside), least_of(rule, e->b, inside));
    return e->call == CALL_fabs || e->call == CALL_sqrt || e->call == CALL_exp ? 0 : -1;
  default: return -1;
  }
}

double ambit__least_of(const ambit__rule *rule, const ambit__expr *e)
{
  enum { DEPTH = 8 }; /* of expressions; they take time exponential in that of sums of sums */

  return least_of(rule, e, DEPTH);
}
