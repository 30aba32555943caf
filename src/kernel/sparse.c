/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse.c - rewrites a rule for sparse grids: activity becomes a field that the rule reads.
 *
 *   outside(-1, 0)   ->   (int)active[-1][0] == 0
 *   u[-1][0]         ->   (int)active[-1][0] == 0 ? u[0][0] : u[-1][0]     if u clamps
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
  ambit_type type;                      /* of activity */
  const int *view;                      /* by parameter */
  int *param;                           /* by view */
  ambit__read *reads[AMBIT_MAX_PARAMS]; /* of parameters that change, growing; owned */
  size_t nreads[AMBIT_MAX_PARAMS], cap[AMBIT_MAX_PARAMS];
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
                                              .type = w->type,
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
  return e;
}

/* Whether the activity at the offset of e is 0: a test as outside() is. */
static ambit__expr *activity(rewriting *w, int view, const ambit__expr *e)
{
  const int param = param_of(w, view);
  ambit__expr *read = new_expr(w, EXPR_READ, w->type, e),
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

/* A clamped read. */
static const ambit__expr *choice(rewriting *w, const ambit__expr *e)
{
  ambit__expr *c = new_expr(w, EXPR_COND, e->type, e), *here = new_expr(w, EXPR_READ, e->type, e);
  const ambit__read r = {.component = e->component, .place = e->place};

  if (w->failed) return e;
  add_read(w, e->index, &r);
  here->index = e->index;
  here->component = e->component;
  c->a = activity(w, w->view[e->index], e);
  c->b = here;
  c->c = e;
  return c;
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
  if (e->op == EXPR_READ && w->view[e->index] >= 0 && !is_here(e)) return choice(w, e);
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
    for (int k = 0; w->view[i] >= 0 && k < from->params[i].nreads; k++)
      add_read(w, i, &from->params[i].reads[k]);
}

ambit_status ambit__rule_sparse(ambit__errors *errors, const ambit__rule *rule, ambit_type type,
                                const int *view, int param[AMBIT__VIEWS], ambit__rule **out)
{
  rewriting w = {.errors = errors, .from = rule, .type = type, .view = view, .param = param};
  ambit__rule *to = ambit__new(errors, 1, sizeof *to);

  *out = NULL;
  for (int v = 0; v < AMBIT__VIEWS; v++)
    param[v] = -1;
  if (!to) return AMBIT_ENOMEM;
  *to = *rule;
  to->arena = (ambit__arena){0};
  to->max_axis = -1; /* outside() needs no index any more */
  w.to = to;
  begin(&w);
  to->body = rewrite_all(&w, rule->body);
  for (int i = 0; i < to->nparams; i++)
    if (w.nreads[i]) set_reads(&w, i);
  for (int i = 0; i < AMBIT_MAX_PARAMS; i++)
    free(w.reads[i]);
  if (!w.failed && to->nparams > rule->nparams)
    *out = to;
  else
    ambit__rule_free(to);
  return w.failed ? errors->status : AMBIT_OK;
}
