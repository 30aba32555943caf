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
#include "kernel/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rewriting {
  ambit__errors *errors;
  const ambit__rule *from;
  ambit__rule *to;
  const ambit__surroundings *around;
  int *param;                           /* by view */
  ambit__read *reads[AMBIT_MAX_PARAMS]; /* of parameters that change, growing; owned */
  size_t nreads[AMBIT_MAX_PARAMS], cap[AMBIT_MAX_PARAMS];
  bool changed;
  bool failed; /* the error is raised */
} rewriting;

static void *take(rewriting *w, size_t n, size_t size)
{
  void *p = w->failed ? NULL : ambit__arena_alloc(&w->to->arena, n * size);

  if (!p && !w->failed)
    ambit__raise(w->errors, AMBIT_ENOMEM, "no memory to adapt kernel %s to a sparse grid",
                 w->from->name);
  w->failed |= !p;
  return p;
}

/* ---- reads ---- */

static int compare(const void *x, const void *y)
{
  const ambit__read *a = x, *b = y;

  if (a->component != b->component) return a->component < b->component ? -1 : 1;
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (a->offset[d] != b->offset[d]) return a->offset[d] < b->offset[d] ? -1 : 1;
  return 0;
}

static void add_read(rewriting *w, int param, const ambit__read *r)
{
  ambit__read *list = w->failed ? NULL
                                : ambit__grow(w->errors, w->reads[param], w->nreads[param],
                                              &w->cap[param], sizeof *list);

  w->failed |= !list;
  if (!list) return;
  w->reads[param] = list;
  for (size_t i = 0; i < w->nreads[param]; i++)
    if (!compare(&list[i], r)) return;
  list[w->nreads[param]++] = *r;
}

static void set_reads(rewriting *w, int param)
{
  ambit__param *p = &w->to->params[param];
  ambit__read *list = take(w, w->nreads[param], sizeof *list);

  if (!list) return;
  memcpy(list, w->reads[param], w->nreads[param] * sizeof *list);
  qsort(list, w->nreads[param], sizeof *list, compare);
  p->reads = list;
  p->nreads = (int)w->nreads[param];
  for (int i = 0; i < p->nreads; i++)
    for (int d = 0; d < AMBIT_MAX_DIMS; d++) {
      if (-list[i].offset[d] > p->low[d]) p->low[d] = -list[i].offset[d];
      if (list[i].offset[d] > p->high[d]) p->high[d] = list[i].offset[d];
      p->reads_neighbours |= list[i].offset[d] != 0;
    }
}

/* ---- parameters ---- */

/* The parameter of a view. There is room for as many as a launch can have. */
static int param_of(rewriting *w, int view)
{
  static const bool none[1];
  ambit__rule *to = w->to;
  char name[32];

  if (w->param[view] >= 0 || w->failed) return w->param[view];
  if (to->nparams == AMBIT_MAX_PARAMS) {
    ambit__raise(w->errors, AMBIT_EUNSUPPORTED,
                 "kernel %s has too many parameters for a sparse grid: with the fields of active "
                 "cells that it needs there, they are more than %d",
                 w->from->name, AMBIT_MAX_PARAMS);
    w->failed = true;
    return -1;
  }
  snprintf(name, sizeof name, "ambit_active%d", to->nparams);
  w->param[view] = to->nparams++;
  to->params[w->param[view]] = (ambit__param){.label = "outside",
                                              .kind = PARAM_FIELD,
                                              .type = w->around->type,
                                              .is_const = true,
                                              .components = 1,
                                              .writes = none,
                                              .keeps = none};
  to->params[w->param[view]].name = ambit__arena_strndup(&to->arena, name, strlen(name));
  return w->param[view];
}

/* ---- expressions ---- */

static ambit__expr *new_expr(rewriting *w, ambit__op op, ambit_type type, const ambit__expr *like)
{
  ambit__expr *e = take(w, 1, sizeof *e);

  if (e) *e = (ambit__expr){.op = op, .type = type, .place = like->place};
  w->changed = true;
  return e;
}

/* An operation on a, and on b and c unless they are NULL. */
static const ambit__expr *make(rewriting *w, ambit__op op, ambit_type type, const ambit__expr *a,
                               const ambit__expr *b, const ambit__expr *c)
{
  ambit__expr *e = w->failed ? NULL : new_expr(w, op, type, a);

  if (!e) return NULL;
  e->a = a;
  e->b = b;
  e->c = c;
  return e;
}

/* Whether the activity at the offset of e is 0: a test as outside() is. */
static ambit__expr *activity(rewriting *w, int view, const ambit__expr *e)
{
  const int param = param_of(w, view);
  ambit__expr *read = new_expr(w, EXPR_READ, w->around->type, e),
              *cast = new_expr(w, EXPR_CAST, AMBIT_I32, e);
  ambit__expr *zero = new_expr(w, EXPR_CONST, AMBIT_I32, e),
              *test = new_expr(w, EXPR_EQ, AMBIT_I32, e);
  ambit__read r = {.place = e->place};

  if (w->failed) return NULL;
  memcpy(r.offset, e->offset, sizeof r.offset);
  add_read(w, param, &r);
  read->index = param;
  memcpy(read->offset, e->offset, sizeof read->offset);
  memcpy(test->offset, e->offset, sizeof test->offset);
  test->is_outside = true;
  cast->a = read;
  test->a = cast;
  test->b = zero;
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
  ambit__expr *c = new_expr(w, EXPR_COND, e->type, e), *here = new_expr(w, EXPR_READ, e->type, e);
  const ambit__read r = {.component = e->component, .place = e->place};

  if (w->failed) return e;
  add_read(w, e->index, &r);
  here->index = e->index;
  here->component = e->component;
  here->clamped = e;
  c->a = activity(w, view_of(w, e), e);
  c->b = here;
  c->c = e;
  return c;
}

/* ---- signs ---- */

/* Whether the cell that a read means lies beyond a side of an axis, and `more` extents beyond. */
static const ambit__expr *beyond(rewriting *w, const ambit__expr *e, int axis, int side, int more)
{
  const int64_t extent = w->around->box->hi[axis], away = more * extent;
  ambit__expr *index = new_expr(w, EXPR_INDEX, AMBIT_I64, e),
              *bound = new_expr(w, EXPR_CONST, AMBIT_I64, e);

  if (w->failed) return NULL;
  index->index = axis;
  bound->value.integer = side ? extent + away - e->offset[axis] : -away - e->offset[axis];
  if (axis > w->to->max_axis) w->to->max_axis = axis;
  return make(w, side ? EXPR_GE : EXPR_LT, AMBIT_I32, index, bound, NULL);
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
  if (!odd) return value;
  if (constant) odd = both(w, EXPR_LAND, odd, make(w, EXPR_NOT, AMBIT_I32, constant, NULL, NULL));
  return make(w, EXPR_COND, e->type, odd, negated(w, value), value);
}

static bool is_here(const ambit__expr *e)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (e->offset[d]) return false;
  return true;
}

static const ambit__expr *rewrite(rewriting *w, const ambit__expr *e)
{
  const ambit__expr *a, *b, *c;
  ambit__expr *copy;

  if (!e || w->failed) return e;
  if (e->is_outside) return activity(w, AMBIT__OUTSIDE, e);
  if (e->op == EXPR_READ && !is_here(e)) {
    a = view_of(w, e) != AMBIT__OUTSIDE ? choice(w, e) : e;
    return w->around->mirrors[e->index] && !w->failed ? mirrored(w, e, a) : a;
  }
  if ((e->op == EXPR_INDEX || e->op == EXPR_EXTENT) && e->index > w->to->max_axis)
    w->to->max_axis = e->index;
  a = rewrite(w, e->a);
  b = rewrite(w, e->b);
  c = rewrite(w, e->c);
  if (a == e->a && b == e->b && c == e->c) return e;
  copy = new_expr(w, e->op, e->type, e);
  if (!copy) return e;
  *copy = *e;
  copy->a = a;
  copy->b = b;
  copy->c = c;
  return copy;
}

static const ambit__stmt *rewrite_all(rewriting *w, const ambit__stmt *list)
{
  const ambit__stmt *first = NULL, **tail = &first;

  for (const ambit__stmt *s = list; s && !w->failed; s = s->next) {
    ambit__stmt *copy = take(w, 1, sizeof *copy);

    if (!copy) break;
    *copy = *s;
    copy->value = rewrite(w, s->value);
    copy->body = rewrite_all(w, s->body);
    copy->other = rewrite_all(w, s->other);
    *tail = copy;
    tail = &copy->next;
  }
  return first;
}

/* ---- all ---- */

/* Clamped parameters keep their reads and get more. */
static void begin(rewriting *w)
{
  const ambit__rule *from = w->from;

  w->to->params = take(w, AMBIT_MAX_PARAMS, sizeof *w->to->params);
  if (w->failed) return;
  memcpy(w->to->params, from->params, (size_t)from->nparams * sizeof *from->params);
  for (int i = 0; i < from->nparams; i++)
    for (int k = 0; w->around->view[i] && k < from->params[i].nreads; k++)
      add_read(w, i, &from->params[i].reads[k]);
}

/* Their values are rewritten, too. */
static void copy_locals(rewriting *w)
{
  const size_t n = (size_t)w->from->nlocals;

  w->to->locals = take(w, n + 1, sizeof *w->to->locals);
  if (w->failed) return;
  if (n) memcpy(w->to->locals, w->from->locals, n * sizeof *w->to->locals);
  ambit__rule_note_locals(w->to);
}

ambit_status ambit__rule_sparse(ambit__errors *errors, const ambit__rule *rule,
                                const ambit__surroundings *around, int *param, ambit__rule **out)
{
  rewriting w = {.errors = errors, .from = rule, .around = around, .param = param};
  ambit__rule *to = ambit__new(errors, 1, sizeof *to);

  *out = NULL;
  for (int v = 0; v < around->nviews; v++)
    param[v] = -1;
  if (!to) return AMBIT_ENOMEM;
  *to = *rule;
  to->arena = (ambit__arena){0};
  to->max_axis = -1; /* outside() needs no index any more */
  w.to = to;
  begin(&w);
  to->body = rewrite_all(&w, rule->body);
  copy_locals(&w);
  for (int i = 0; i < to->nparams; i++)
    if (w.nreads[i]) set_reads(&w, i);
  for (int i = 0; i < AMBIT_MAX_PARAMS; i++)
    free(w.reads[i]);
  if (!w.failed && w.changed)
    *out = to;
  else
    ambit__rule_free(to);
  return w.failed ? errors->status : AMBIT_OK;
}
