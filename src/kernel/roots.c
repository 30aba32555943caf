/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel/roots.h"

bool ambit__root_of(const ambit__range *locals, const ambit__expr *e, ambit__root *root)
{
  const ambit__expr *x = e->op == EXPR_CAST && e->a->type == AMBIT_F32 ? e->a : NULL, *cut = NULL;
  int64_t most = 0;
  ambit__range n;

  if (!x || ambit__type_is_real(e->type)) return false;
  if (x->op == EXPR_CALL && x->call == CALL_fmin && x->b->op == EXPR_CONST) {
    cut = x->b;
    x = x->a;
  }
  if (x->op != EXPR_CALL || x->call != CALL_sqrt || x->a->op != EXPR_CAST) return false;
  if (ambit__type_is_real(x->a->a->type)) return false;
  n = ambit__range_of(locals, x->a->a);
  while (most <= AMBIT__MOST_ROOT && (most + 1) * (most + 1) <= n.high)
    most++;
  if (n.low < 0 || (cut && !(cut->value.real >= 0))) return false;
  if (cut && cut->value.real >= (double)most) cut = NULL;
  if (cut && cut->value.real != (double)(int64_t)cut->value.real) return false;
  if (cut) most = (int64_t)cut->value.real;
  *root = (ambit__root){.n = x->a->a, .most = most, .cut = cut};
  return most <= AMBIT__MOST_ROOT && most <= ambit__range_of_type(e->type).high;
}
