/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse.c - rewrites a rule for sparse grids: activity becomes a field that the rule reads, and
 * tables of cells know no signs.
 *
 *   outside(-1, 0)   ->   (int)active[-1][0] == 0
 *   u[-1][0]         ->   (int)active[-1][0] == 0 ? u[0][0] : u[-1][0]     if u clamps
 *   u[-1][0]         ->   index(0) < 1 ? -u[-1][0] : u[-1][0]              if u is antisymmetric
 *
 * Only expressions that change are copied.
 */
#include "kernel/rewrite.h"

#include <string.h>

typedef struct rewriting {
  ambit__rewriting w; /* the first member */
  const ambit__surroundings *around;
  int *param; /* by view */
} rewriting;

/* ---- parameters ---- */

/* The parameter of a view. There is room for as many as a launch can have. */
static int param_of(rewriting *w, int view)
{
  ambit__rule *to = w->w.to;

  if (w->param[view] >= 0 || w->w.failed) return w->param[view];
  if (to->nparams == AMBIT_MAX_PARAMS) {
    ambit__raise(w->w.errors, AMBIT_EUNSUPPORTED,
                 "kernel %s has too many parameters for a sparse grid: with the fields of active "
                 "cells that it needs there, they are more than %d",
                 w->w.from->name, AMBIT_MAX_PARAMS);
    w->w.failed = true;
    return -1;
  }
  w->param[view] = to->nparams;
  w->w.failed = !ambit__rule_add_param(to, "ambit_active",
                                       (ambit__param){.label = "outside",
                                                      .kind = PARAM_FIELD,
                                                      .type = w->around->type,
                                                      .is_const = true,
                                                      .components = 1});
  return w->param[view];
}

/* ---- expressions ---- */

/* An operation on a, and on b and c unless they are NULL. */
static const ambit__expr *make(rewriting *w, ambit__op op, ambit_type type, const ambit__expr *a,
                               const ambit__expr *b, const ambit__expr *c)
{
  return w->w.failed ? NULL : ambit__rewriting_make(&w->w, a, op, type, a, b, c);
}

/* Whether the activity at the offset of e is 0: a test as outside() is. */
static const ambit__expr *activity(rewriting *w, int view, const ambit__expr *e)
{
  const int param = param_of(w, view);
  const ambit__expr *active, *zero;
  ambit__expr *test;

  active = ambit__rewriting_read(&w->w, e, param, 0, e->offset);
  active = make(w, EXPR_CAST, AMBIT_I32, active, NULL, NULL);
  zero = ambit__rewriting_number(&w->w, e, AMBIT_I32, (ambit__value){0});
  test = ambit__rewriting_make(&w->w, e, EXPR_EQ, AMBIT_I32, active, zero, NULL);
  if (!test) return NULL;
  memcpy(test->offset, e->offset, sizeof test->offset);
  test->is_outside = true;
  return test;
}

/* The view of a clamped read; AMBIT__OUTSIDE: it does not clamp. */
static int view_of(const rewriting *w, const ambit__expr *e)
{
  const int *view = w->around->view[e->index];

  return view ? view[e->component] : AMBIT__OUTSIDE;
}

/* A clamped read. */
static const ambit__expr *choice(rewriting *w, const ambit__expr *e)
{
  static const int zero[AMBIT_MAX_DIMS];
  ambit__expr *here = ambit__rewriting_read(&w->w, e, e->index, e->component, zero);

  if (!here) return e;
  here->clamped = e;
  return make(w, EXPR_COND, e->type, activity(w, view_of(w, e), e), here, e);
}

/* ---- signs ---- */

/* Whether the cell that a read means lies beyond a side of an axis, and `more` extents beyond. */
static const ambit__expr *beyond(rewriting *w, const ambit__expr *e, int axis, int side, int more)
{
  const int64_t extent = w->around->box->hi[axis], away = more * extent;
  const int64_t bound = side ? extent + away - e->offset[axis] : -away - e->offset[axis];
  const ambit__expr *index = ambit__rewriting_place(&w->w, e, EXPR_INDEX, axis);

  return make(w, side ? EXPR_GE : EXPR_LT, AMBIT_I32, index,
              ambit__rewriting_number(&w->w, e, AMBIT_I64, (ambit__value){.integer = bound}), NULL);
}

/* Two tests as one; the first may be NULL. */
static const ambit__expr *both(rewriting *w, ambit__op op, const ambit__expr *a,
                               const ambit__expr *b)
{
  return a ? make(w, op, AMBIT_I32, a, b, NULL) : b;
}

/* Halves are computed as floats. */
static const ambit__expr *negated(rewriting *w, const ambit__expr *e)
{
  if (!ambit__type_is_half(e->type)) return make(w, EXPR_NEG, e->type, e, NULL, NULL);
  return make(
      w, EXPR_CAST, e->type,
      make(w, EXPR_NEG, AMBIT_F32, make(w, EXPR_CAST, AMBIT_F32, e, NULL, NULL), NULL, NULL), NULL,
      NULL);
}

/* A read changes its sign at each mirror that it crosses, but constants of faces do not. */
static const ambit__expr *mirrored(rewriting *w, const ambit__expr *e, const ambit__expr *value)
{
  const ambit__boundaries *b =
      w->around->mirrors[e->index] + (w->around->special[e->index] ? e->component : 0);
  const ambit__box *box = w->around->box;
  const ambit__expr *odd = NULL, *constant = NULL;

  for (int d = 0; d < box->ndims; d++) {
    const int side = e->offset[d] > 0;
    const int64_t reach = side ? e->offset[d] : -e->offset[d];

    if (!reach) continue;
    if (b->kind[d][side] == AMBIT_CONSTANT)
      constant = both(w, EXPR_LOR, constant, beyond(w, e, d, side, 0));
    for (int k = 0; b->kind[d][side] == AMBIT_ANTISYMMETRIC && k * box->hi[d] < reach; k++)
      odd = both(w, EXPR_NE, odd, beyond(w, e, d, side, k));
  }
  if (!odd || w->w.failed) return value;
  if (constant) odd = both(w, EXPR_LAND, odd, make(w, EXPR_NOT, AMBIT_I32, constant, NULL, NULL));
  return make(w, EXPR_COND, e->type, odd, negated(w, value), value);
}

static const ambit__expr *rewrite(ambit__rewriting *r, const ambit__expr *e)
{
  rewriting *w = (rewriting *)r;
  const ambit__expr *value;

  if (r->failed) return e;
  if (e->is_outside) return activity(w, AMBIT__OUTSIDE, e);
  if (e->op == EXPR_READ && !ambit__offset_is_zero(e->offset)) {
    value = view_of(w, e) != AMBIT__OUTSIDE ? choice(w, e) : e;
    return w->around->mirrors[e->index] && !r->failed ? mirrored(w, e, value) : value;
  }
  if ((e->op == EXPR_INDEX || e->op == EXPR_EXTENT) && e->index > r->to->max_axis)
    r->to->max_axis = e->index;
  return ambit__rewriting_parts(r, e, rewrite);
}

ambit_status ambit__rule_sparse(ambit__errors *errors, const ambit__rule *rule,
                                const ambit__surroundings *around, int *param, ambit__rule **out)
{
  rewriting w = {.around = around, .param = param};

  for (int v = 0; v < around->nviews; v++)
    param[v] = -1;
  ambit__rewriting_begin(&w.w, errors, rule);
  if (!w.w.failed) w.w.to->max_axis = -1; /* outside() needs no index any more */
  AMBIT_TRY(ambit__rewriting_end(&w.w, rewrite, "a sparse grid", out));
  if (w.w.changed) return AMBIT_OK;
  ambit__rule_free(*out);
  *out = NULL;
  return AMBIT_OK;
}
