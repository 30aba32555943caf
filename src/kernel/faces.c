/* SPDX-License-Identifier: BSD-3-Clause */
/* faces.c - rewrites a rule for boundaries that ghost cells do not have: the field keeps a boundary
 * that mirrors, and the rule corrects the values of reads that left the grid.
 *
 *   u[-1]   ->   index(0) < 1 ? 2 * x - u[-1] : u[-1]        AMBIT_DIRICHLET: x on the face
 *   u[-1]   ->   index(0) < 1 ? u[-1] + x : u[-1]            AMBIT_NEUMANN: x per cell, outwards
 *   u[-1]   ->   index(0) < 1 ? x : u[-1]                    AMBIT_CONSTANT
 *   f[2][-1] ->  index(0) < 1 ? f[4][-1] : f[2][-1]          components that change places
 *
 * x is one more parameter: a value, or a field, of which the cell at the face counts. Axes are
 * corrected in order, the last one outermost. Only expressions that change are copied.
 */
#include "kernel/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ambit__expr expr;

typedef struct work {
  ambit__rewriting w; /* the first member */
  const ambit__faced *how;
  ambit__read *reads[AMBIT_MAX_PARAMS]; /* of parameters that change, growing; owned */
  size_t nreads[AMBIT_MAX_PARAMS], cap[AMBIT_MAX_PARAMS];
} work;

/* ---- reads ---- */

static int compare(const void *x, const void *y)
{
  const ambit__read *a = x, *b = y;

  if (a->component != b->component) return a->component < b->component ? -1 : 1;
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (a->offset[d] != b->offset[d]) return a->offset[d] < b->offset[d] ? -1 : 1;
  return 0;
}

static void add_read(work *k, int param, const ambit__read *r)
{
  ambit__read *list;

  for (size_t i = 0; i < k->nreads[param]; i++)
    if (!compare(&k->reads[param][i], r)) return;
  list = ambit__grow(k->w.errors, k->reads[param], k->nreads[param], &k->cap[param], sizeof *list);
  k->w.failed |= !list;
  if (!list) return;
  k->reads[param] = list;
  list[k->nreads[param]++] = *r;
}

static void set_reads(work *k, int param)
{
  ambit__param *p = &k->w.to->params[param];
  const size_t n = k->nreads[param];
  ambit__read *list = n ? ambit__rewriting_take(&k->w, n * sizeof *list) : NULL;

  if (!list) return;
  memcpy(list, k->reads[param], n * sizeof *list);
  qsort(list, n, sizeof *list, compare);
  p->reads = list;
  p->nreads = (int)n;
  for (size_t i = 0; i < n; i++)
    for (int d = 0; d < AMBIT_MAX_DIMS; d++) {
      if (-list[i].offset[d] > p->low[d]) p->low[d] = -list[i].offset[d];
      if (list[i].offset[d] > p->high[d]) p->high[d] = list[i].offset[d];
      p->reads_neighbours |= list[i].offset[d] != 0;
    }
}

/* ---- expressions ---- */

static const expr *make(work *k, ambit__op op, ambit_type type, const expr *a, const expr *b)
{
  return ambit__rewriting_make(&k->w, a, op, type, a, b);
}

static const expr *choose(work *k, const expr *test, const expr *yes, const expr *no)
{
  expr *e = (expr *)ambit__rewriting_make(&k->w, no, EXPR_COND, no->type, test, yes);

  if (!k->w.failed) e->c = no;
  return e;
}

static const expr *cast(work *k, const expr *e, ambit_type type)
{
  return e->type == type ? e : make(k, EXPR_CAST, type, e, NULL);
}

static const expr *whole(work *k, const expr *like, int64_t n)
{
  return ambit__rewriting_number(&k->w, like, AMBIT_I64, (ambit__value){.integer = n});
}

static const expr *place(work *k, const expr *like, ambit__op op, int axis)
{
  expr *e = (expr *)ambit__rewriting_make(&k->w, like, op, AMBIT_I64, NULL, NULL);

  if (!k->w.failed) e->index = axis;
  if (axis > k->w.to->max_axis) k->w.to->max_axis = axis;
  return e;
}

/* Whether the cell is fewer than n cells from a face. */
static const expr *is_near(work *k, const expr *like, int axis, int side, int n)
{
  const expr *index = place(k, like, EXPR_INDEX, axis), *bound = whole(k, like, n);

  if (!side) return make(k, EXPR_LT, AMBIT_I32, index, bound);
  bound = make(k, EXPR_SUB, AMBIT_I64, place(k, like, EXPR_EXTENT, axis), bound);
  return make(k, EXPR_GE, AMBIT_I32, index, bound);
}

/* A component at an offset, as the boundary of ghost cells gives it. */
static const expr *read_at(work *k, const expr *like, int param, int component, const int *offset)
{
  expr *e = (expr *)ambit__rewriting_make(&k->w, like, EXPR_READ, k->w.to->params[param].type, NULL,
                                          NULL);
  ambit__read r = {.component = component, .place = like->place};

  if (k->w.failed) return like;
  e->index = param;
  e->component = component;
  memcpy(e->offset, offset, sizeof e->offset);
  memcpy(r.offset, offset, sizeof r.offset);
  r.is_tested = param >= k->w.from->nparams;
  add_read(k, param, &r);
  return e;
}

/* The value of a field at the face: the read is at most reach cells from it, and of these cells
 * one is the last. */
static const expr *field_value(work *k, const expr *e, int param, int component, int axis)
{
  const int side = e->offset[axis] > 0, reach = abs(e->offset[axis]);
  ambit__param *p = &k->w.to->params[param];
  const expr *found = NULL;
  int offset[AMBIT_MAX_DIMS];

  memcpy(offset, e->offset, sizeof offset);
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (d != axis && offset[d]) p->crosses[d][offset[d] > 0] = true;
  for (int n = reach; n > 0; n--) {
    const expr *here;

    offset[axis] = side ? n - 1 : 1 - n;
    here = read_at(k, e, param, p->components > 1 ? component : 0, offset);
    found = found ? choose(k, is_near(k, e, axis, side, n), here, found) : here;
  }
  return found;
}

/* The value that a boundary has, in the type that is computed with. */
static const expr *value_of(work *k, const expr *e, const ambit__face_value *f, int component,
                            int axis, ambit_type type)
{
  const int param = k->w.from->nparams + f->value;
  expr *x;

  if (k->w.to->params[param].kind == PARAM_FIELD)
    return cast(k, field_value(k, e, param, component, axis), type);
  x = (expr *)ambit__rewriting_make(&k->w, e, EXPR_VALUE, k->w.to->params[param].type, NULL, NULL);
  if (!k->w.failed) x->index = param;
  return cast(k, x, type);
}

/* Cells between a cell outside and its mirror: 1, 3, 5, ... */
static const expr *distance(work *k, const expr *e, int axis, ambit_type type)
{
  const int offset = e->offset[axis];
  const expr *index = place(k, e, EXPR_INDEX, axis), *twice;

  if (offset < 0) { /* -1 - 2 (index + offset) */
    twice = make(k, EXPR_MUL, AMBIT_I64, index, whole(k, e, -2));
    return cast(k, make(k, EXPR_ADD, AMBIT_I64, twice, whole(k, e, -1 - 2 * offset)), type);
  }
  index = make(k, EXPR_SUB, AMBIT_I64, index, place(k, e, EXPR_EXTENT, axis));
  twice = make(k, EXPR_MUL, AMBIT_I64, index, whole(k, e, 2));
  return cast(k, make(k, EXPR_ADD, AMBIT_I64, twice, whole(k, e, 1 + 2 * offset)), type);
}

/* The value beyond a face, from that of the mirror. */
static const expr *beyond(work *k, const expr *e, const ambit__face_value *f, int component,
                          int axis, const expr *mirror)
{
  const ambit_type type = ambit__type_promoted(e->type);
  const expr *x;

  if (f->kind == AMBIT_NONE) return mirror;
  x = value_of(k, e, f, component, axis, type);
  if (f->kind == AMBIT_DIRICHLET) {
    const expr *two = ambit__rewriting_number(&k->w, e, type, ambit__value_of(2, type));

    x = make(k, EXPR_SUB, type, make(k, EXPR_MUL, type, two, x), cast(k, mirror, type));
  } else if (f->kind == AMBIT_NEUMANN) {
    if (abs(e->offset[axis]) > 1) x = make(k, EXPR_MUL, type, x, distance(k, e, axis, type));
    x = make(k, EXPR_ADD, type, cast(k, mirror, type), x);
  }
  return cast(k, x, e->type);
}

/* A read of a component, with the axes up to this one corrected. */
static const expr *corrected(work *k, const expr *e, int component, int axis)
{
  const ambit__face_value *f;
  const expr *inside, *outside;

  if (axis < 0)
    return component == e->component ? e : read_at(k, e, e->index, component, e->offset);
  inside = corrected(k, e, component, axis - 1);
  if (!e->offset[axis] || k->w.failed) return inside;
  f = &k->how->faces[e->index][component].at[axis][e->offset[axis] > 0];
  if (f->kind == AMBIT_NONE && f->from == component) return inside;
  if (f->kind == AMBIT_CONSTANT && f->value < 0) { /* of ghost cells: it hides the other axes */
    outside = corrected(k, e, component, -1);
    if (inside == outside) return inside;
  } else {
    outside = beyond(k, e, f, component, axis, corrected(k, e, f->from, axis - 1));
  }
  return choose(k, is_near(k, e, axis, e->offset[axis] > 0, abs(e->offset[axis])), outside, inside);
}

static const expr *rewrite(ambit__rewriting *w, const expr *e)
{
  work *k = (work *)w;

  if (!e || w->failed || e->is_outside) return e;
  if (e->op == EXPR_READ)
    return k->how->faces[e->index] ? corrected(k, e, e->component, k->how->ndims - 1) : e;
  return ambit__rewriting_with(w, e, rewrite(w, e->a), rewrite(w, e->b), rewrite(w, e->c));
}

/* ---- parameters ---- */

static void add_params(work *k)
{
  const ambit__rule *from = k->w.from;
  ambit__rule *to = k->w.to;
  char name[32];

  to->params = ambit__rewriting_take(&k->w, AMBIT_MAX_PARAMS * sizeof *to->params);
  if (!to->params) return;
  memcpy(to->params, from->params, (size_t)from->nparams * sizeof *from->params);
  for (int i = 0; i < k->how->nvalues; i++) {
    const ambit__faced_value *v = &k->how->values[i];
    const bool *none = ambit__rewriting_take(&k->w, (size_t)v->components);

    snprintf(name, sizeof name, "ambit_face%d", i);
    to->params[to->nparams++] =
        (ambit__param){.label = v->label,
                       .name = ambit__arena_strndup(&to->arena, name, strlen(name)),
                       .kind = v->is_field ? PARAM_FIELD : PARAM_VALUE,
                       .type = v->type,
                       .is_const = true,
                       .is_vector = v->components > 1,
                       .components = v->components,
                       .writes = none,
                       .keeps = none};
  }
  for (int i = 0; i < from->nparams; i++)
    for (int r = 0; k->how->faces[i] && r < from->params[i].nreads; r++)
      add_read(k, i, &from->params[i].reads[r]);
}

/* The locals of the new rule have values of their own. */
static void note_locals(work *k)
{
  const size_t n = (size_t)k->w.from->nlocals;
  ambit__local *own = ambit__rewriting_take(&k->w, (n + 1) * sizeof *own);

  if (!own) return;
  if (n) memcpy(own, k->w.from->locals, n * sizeof *own);
  k->w.to->locals = own;
  ambit__rule_note_locals(k->w.to);
}

ambit_status ambit__rule_face(ambit__errors *errors, const ambit__rule *rule,
                              const ambit__faced *how, ambit__rule **out)
{
  work k = {.w = {.errors = errors, .from = rule}, .how = how};

  *out = NULL;
  AMBIT_CHECK(
      rule->nparams + how->nvalues <= AMBIT_MAX_PARAMS, errors, AMBIT_EUNSUPPORTED,
      "kernel %s has %d parameters, and the values of boundaries that it needs are %d more; "
      "together they can be %d",
      rule->name, rule->nparams, how->nvalues, AMBIT_MAX_PARAMS);
  k.w.to = ambit__new(errors, 1, sizeof *k.w.to);
  if (!k.w.to) return AMBIT_ENOMEM;
  *k.w.to = *rule;
  k.w.to->arena = (ambit__arena){0};
  add_params(&k);
  k.w.to->body = ambit__rewriting_list(&k.w, rule->body, rewrite);
  note_locals(&k);
  for (int i = 0; i < k.w.to->nparams; i++) {
    set_reads(&k, i);
    free(k.reads[i]);
  }
  if (k.w.failed) {
    ambit__rule_free(k.w.to);
    return errors->status
               ? errors->status
               : ambit__raise(errors, AMBIT_ENOMEM,
                              "no memory to adapt kernel %s to its boundaries", rule->name);
  }
  *out = k.w.to;
  return AMBIT_OK;
}
