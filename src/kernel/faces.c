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

#include <stdlib.h>
#include <string.h>

typedef ambit__expr expr;

typedef struct work {
  ambit__rewriting w; /* the first member */
  const ambit__faced *how;
} work;

/* ---- expressions ---- */

static const expr *make(work *k, ambit__op op, ambit_type type, const expr *a, const expr *b)
{
  return k->w.failed ? a : ambit__rewriting_make(&k->w, a, op, type, a, b, NULL);
}

static const expr *choose(work *k, const expr *test, const expr *yes, const expr *no)
{
  return k->w.failed ? no : ambit__rewriting_make(&k->w, no, EXPR_COND, no->type, test, yes, no);
}

static const expr *cast(work *k, const expr *e, ambit_type type)
{
  return k->w.failed || e->type == type ? e : make(k, EXPR_CAST, type, e, NULL);
}

static const expr *whole(work *k, const expr *like, int64_t n)
{
  return ambit__rewriting_number(&k->w, like, AMBIT_I64, (ambit__value){.integer = n});
}

static const expr *place(work *k, const expr *like, ambit__op op, int axis)
{
  return ambit__rewriting_place(&k->w, like, op, axis);
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
  expr *e = ambit__rewriting_read(&k->w, like, param, component, offset);

  if (!e) return like;
  e->is_tested = like->is_tested || param >= k->w.from->nparams; /* which has values everywhere */
  return e;
}

/* The value of a field at the face: the read is at most reach cells from it, and of these cells
 * one is the last. A field without this axis has one cell there. */
static const expr *field_value(work *k, const expr *e, int param, int component, int axis)
{
  const unsigned lacks = k->how->values[param - k->w.from->nparams].lacks;
  const int side = e->offset[axis] > 0, reach = lacks >> axis & 1 ? 1 : abs(e->offset[axis]);
  ambit__param *p = &k->w.to->params[param];
  const expr *found = NULL;
  int offset[AMBIT_MAX_DIMS];

  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    offset[d] = lacks >> d & 1 ? 0 : e->offset[d];
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
  x = ambit__rewriting_make(&k->w, e, EXPR_VALUE, k->w.to->params[param].type, NULL, NULL, NULL);
  if (!x) return e;
  x->index = param;
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

  if (w->failed || e->is_outside) return e;
  if (e->op == EXPR_READ)
    return k->how->faces[e->index] ? corrected(k, e, e->component, k->how->ndims - 1) : e;
  return ambit__rewriting_parts(w, e, rewrite);
}

/* ---- parameters ---- */

static void add_params(work *k)
{
  for (int i = 0; i < k->how->nvalues && !k->w.failed; i++) {
    const ambit__faced_value *v = &k->how->values[i];

    k->w.failed =
        !ambit__rule_add_param(k->w.to, "ambit_face",
                               (ambit__param){.label = v->label,
                                              .kind = v->is_field ? PARAM_FIELD : PARAM_VALUE,
                                              .type = v->type,
                                              .is_const = true,
                                              .is_vector = v->components > 1,
                                              .components = v->components});
  }
}

ambit_status ambit__rule_face(ambit__errors *errors, const ambit__rule *rule,
                              const ambit__faced *how, ambit__rule **out)
{
  work k = {.how = how};

  *out = NULL;
  AMBIT_CHECK(
      rule->nparams + how->nvalues <= AMBIT_MAX_PARAMS, errors, AMBIT_EUNSUPPORTED,
      "kernel %s has %d parameters, and the values of boundaries that it needs are %d more; "
      "together they can be %d",
      rule->name, rule->nparams, how->nvalues, AMBIT_MAX_PARAMS);
  ambit__rewriting_begin(&k.w, errors, rule);
  add_params(&k);
  return ambit__rewriting_end(&k.w, rewrite, "its boundaries", out);
}
