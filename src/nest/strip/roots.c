/* SPDX-License-Identifier: BSD-3-Clause */
#include "nest/strip/roots.h"

enum {
  MOST_ROOT = 511, /* roots that are far enough from the next, in float */
  MOST_SQUARE = 1 << 22,
  MOST_REAL = 1 << 24 /* integers up to this one are floats */
};

/* The operand of fminf(x, c) or fmaxf(x, c) with a natural number c of up to 511; NULL if e is
 * none. */
static const ambit__expr *cut_off(const ambit__expr *e)
{
  const double c = e->b && e->b->op == EXPR_CONST ? e->b->value.real : -1;

  if (e->op != EXPR_CALL || (e->call != CALL_fmin && e->call != CALL_fmax)) return NULL;
  return c >= 0 && c <= MOST_ROOT && c == (double)(int)c ? e->a : NULL;
}

/* The largest integer part of x, which may be cut off; the integer is to be that of a root. */
static int64_t largest_root(const ambit__range *locals, const ambit__expr *x)
{
  const ambit__expr *inner = cut_off(x);
  const int64_t c = inner ? (int64_t)x->b->value.real : 0;
  int64_t root = 0;
  ambit__range n;

  if (inner && x->call == CALL_fmin) return largest_root(locals, inner) < 0 ? -1 : c;
  if (inner) return largest_root(locals, inner) > c ? largest_root(locals, inner) : -1;
  if (x->op != EXPR_CALL || x->call != CALL_sqrt || x->a->op != EXPR_CAST) return -1;
  if (ambit__type_is_real(x->a->a->type)) return -1;
  n = ambit__range_of(locals, x->a->a);
  if (n.low < 0 || n.high > MOST_SQUARE) return -1;
  while ((root + 1) * (root + 1) <= n.high)
    root++;
  return root;
}

static bool is_root(const ambit__range *locals, const ambit__expr *e)
{
  int64_t most;

  if (e->op != EXPR_CAST || e->a->type != AMBIT_F32 || ambit__type_is_real(e->type)) return false;
  most = largest_root(locals, e->a);
  return most >= 0 && most <= MOST_ROOT && most <= ambit__range_of_type(e->type).high;
}

static bool is_within(const ambit__range *locals, const ambit__expr *e, int64_t most)
{
  const ambit__range r = ambit__range_of(locals, e);

  return r.low >= -most && r.high <= most;
}

bool ambit__root_is_sum(const ambit__expr *e)
{
  return e->type == AMBIT_I32 && (e->op == EXPR_ADD || e->op == EXPR_SUB || e->op == EXPR_MUL);
}

/* Whether an integer and all it is computed from are exact in float. */
static bool is_exact(const ambit__range *locals, const ambit__rule *dots, const ambit__expr *e)
{
  if (!ambit__root_is_sum(e) || ambit__is_dot(dots, e)) return is_within(locals, e, MOST_SQUARE);
  return is_within(locals, e, MOST_REAL) && is_exact(locals, dots, e->a) &&
         is_exact(locals, dots, e->b);
}

/* The integer whose root x is, which may be cut off. */
static const ambit__expr *square_of(const ambit__expr *x)
{
  return x->call == CALL_sqrt ? x->a->a : square_of(x->a);
}

/* Whether x is cut off at 255 and nothing else. */
static bool is_byte(const ambit__expr *x)
{
  return cut_off(x) && x->call == CALL_fmin && x->b->value.real == UINT8_MAX &&
         x->a->call == CALL_sqrt;
}

bool ambit__root_of(const ambit__range *locals, const ambit__rule *dots, const ambit__expr *e,
                    bool last, ambit__root *root)
{
  if (!is_root(locals, e)) return false;
  *root = (ambit__root){e, is_exact(locals, dots, square_of(e->a)), last && is_byte(e->a)};
  return true;
}
