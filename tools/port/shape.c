/* SPDX-License-Identifier: BSD-3-Clause */
/* shape.c - the axes of arrays, from all subscripts that a function uses.
 *
 * The coefficient of a loop variable in a flattened subscript is a stride. Strides that divide each
 * other are axes, the largest being the slowest; the quotient of two neighbours is an extent. What
 * is left of a subscript without its loop variables is divided by the strides in turn: nx * ny - nx
 * - 1 is one plane up, one row down, one cell to the left. Axes come from strides, never from the
 * order of loops.
 */
#include "nest.h"
#include "pragma.h"

#include <string.h>

enum { MOST_PARTS = 32 };

/* The subscript with guarded indices replaced by the guarded expressions. */
static poly unguarded(const nest *n, poly p)
{
  for (int i = 0; i < n->nguards; i++) {
    poly c, r;

    if (port_poly_has(p, n->guards[i].atom) && port_poly_split(p, n->guards[i].atom, &c, &r))
      p = port_poly_add(port_poly_mul(c, n->guards[i].inner), r);
  }
  return p;
}

static void add_stride(array *a, int level, poly s)
{
  int64_t x;

  if (port_poly_is_number(s, &x) && x <= 0) return;
  for (int i = 0; i < a->nstrides[level]; i++)
    if (port_poly_equal(a->strides[level][i], s)) return;
  if (a->nstrides[level] < AXES) a->strides[level][a->nstrides[level]++] = s;
}

static bool is_loop_atom(const nest *n, int atom)
{
  for (int i = 0; i < n->nloops; i++)
    if (n->loops[i].atom == atom) return true;
  return false;
}

/* u[n - i]: an axis that a loop goes along backwards. */
static bool is_mirrored(const nest *n, const access *a)
{
  for (int l = 0; l < a->nsubs; l++)
    for (int k = 0; k < n->nloops; k++) {
      poly c, r;

      if (port_poly_split(unguarded(n, a->subs[l]), n->loops[k].atom, &c, &r) && c.n &&
          c.terms[0].factor < 0)
        return true;
    }
  return false;
}

void port_shapes_learn(nest *n, bool has_mirrors)
{
  for (int i = 0; i < n->naccesses && !has_mirrors; i++)
    if (is_mirrored(n, n->accesses[i])) {
      port_refuse(n, n->accesses[i]->node,
                  "the subscript becomes less where a loop variable becomes more: a mirror",
                  "a few layers of an edge are understood");
      return;
    }
  for (int i = 0; i < n->naccesses; i++) {
    access *a = n->accesses[i];

    for (int l = 0; l < a->nsubs; l++) {
      poly p = unguarded(n, a->subs[l]), c, r;
      int64_t x;

      if (port_poly_is_number(p, &x) && x >= 0 && x < 32) a->array->seen[l] |= 1u << x;
      a->array->is_chosen[l] |= p.n != 0;
      for (int k = 0; k < n->nloops; k++)
        if (port_poly_split(p, n->loops[k].atom, &c, &r) && c.n) {
          a->array->is_axis[l] = true;
          if (c.terms[0].factor < 0) c = port_poly_sub(port_poly_number(0), c);
          if (a->array->levels[l] != LEVEL_ROWS) add_stride(a->array, l, c);
          p = r;
        }
    }
  }
}

/* Largest first; false where one does not divide the other. */
static bool sort(array *a, int l)
{
  poly *s = a->strides[l], q, r;
  const int n = a->nstrides[l];

  for (int i = 0; i < n; i++)
    for (int k = i + 1; k < n; k++) {
      int64_t x, y;
      bool swap;

      if (port_poly_is_number(s[i], &x) && port_poly_is_number(s[k], &y))
        swap = y > x;
      else {
        port_poly_divide(s[k], s[i], &q, &r);
        swap = !r.is_bad && !r.n;
      }
      if (swap) {
        q = s[i];
        s[i] = s[k];
        s[k] = q;
      }
    }
  for (int i = 0; i + 1 < n; i++) {
    port_poly_divide(s[i], s[i + 1], &q, &r);
    if (r.is_bad || r.n) return false;
  }
  return true;
}

static void add_axis(array *a, int level, poly stride, poly extent)
{
  if (a->naxes == AXES) {
    a->is_unclear = true;
    return;
  }
  a->level_of[a->naxes] = level;
  a->stride_of[a->naxes] = stride;
  a->extent_of[a->naxes++] = extent;
}

/* The shape that a directive told: all strides at once, and the extent of the slowest axis. */
static bool settle_told(array *a, int l)
{
  for (const told_shape *t = port_told_shapes; t; t = t->next) {
    poly stride = port_poly_number(1);

    if (strcmp(t->name, port_array_name(a))) continue;
    a->nstrides[l] = t->naxes;
    for (int d = t->naxes - 1; d >= 0; d--) {
      a->strides[l][d] = stride;
      stride = port_poly_mul(stride, port_told_poly(t->extents[d]));
      if (stride.is_bad) return false;
    }
    for (int d = 0; d < t->naxes; d++)
      add_axis(a, l, a->strides[l][d], port_told_poly(t->extents[d]));
    return true;
  }
  return false;
}

static poly rows_of_plane(poly plane, poly stride)
{
  poly extent, r;

  port_poly_divide(plane, stride, &extent, &r);
  return r.n || r.is_bad ? port_poly_atom(port_atom_of_text(port_text(
                               "((%s) / (%s))", port_poly_code(plane), port_poly_code(stride))))
                         : extent;
}

static void settle_flat(array *a, int l)
{
  int64_t x;

  if (settle_told(a, l)) return;
  if (a->has_rest[l]) add_stride(a, l, port_poly_number(1));
  if (!sort(a, l)) a->is_unclear = true;
  for (int i = 0; i < a->nstrides[l]; i++) {
    poly extent = port_poly_bad(), r;

    if (i) port_poly_divide(a->strides[l][i - 1], a->strides[l][i], &extent, &r);
    if (!i && a->plane.n) extent = rows_of_plane(a->plane, a->strides[l][0]);
    add_axis(a, l, a->strides[l][i], extent);
  }
  if (a->nstrides[l] && port_poly_is_number(a->strides[l][a->nstrides[l] - 1], &x) && x != 1 &&
      a->has_rest[l])
    a->is_unclear = true;
}

/* Whether half of the planes, or more, are named by numbers. */
static bool is_named(const array *a, int l)
{
  int named = 0;

  for (uint32_t s = a->seen[l]; s; s &= s - 1)
    named++;
  return a->extents[l] >= 0 && a->extents[l] <= 32 && 2 * named >= a->extents[l];
}

/* A row or plane with one index only is an axis too, unless it is one of a few components. */
static bool is_component(const array *a, int l)
{
  return a->extents[l] >= 0 && (a->extents[l] <= 8 || is_named(a, l));
}

const symbol *port_shapes_planes(const nest *n)
{
  for (int i = 0; i < n->naccesses; i++) {
    const access *a = n->accesses[i];

    for (int l = 0; l + 1 < a->nsubs; l++)
      for (int k = 0; a->array->levels[l] == LEVEL_TYPED && a->array->is_axis[l] &&
                      is_named(a->array, l) && k < n->nloops;
           k++)
        if (port_poly_equal(a->subs[l], port_poly_atom(n->loops[k].atom)) &&
            port_loop_is_short(&n->loops[k]))
          return n->loops[k].var;
  }
  return NULL;
}

void port_shapes_settle(void)
{
  for (array *a = port_arrays; a; a = a->next) {
    a->naxes = 0;
    a->is_unclear = false;
    for (int l = 0; l < a->nlevels; l++) {
      if (a->levels[l] == LEVEL_TYPED && !a->is_axis[l] && !is_component(a, l) && !a->has_rest[l])
        a->is_axis[l] = true;
      if (a->levels[l] == LEVEL_ROWS && a->is_chosen[l]) a->is_axis[l] = true; /* not (*p)[i] */
      if (a->levels[l] == LEVEL_TYPED && a->is_axis[l] && l + 1 < a->nlevels && a->is_behind[l + 1])
        a->levels[l] = LEVEL_ROWS; /* double *a[20] */
      if (l && a->levels[l - 1] == LEVEL_ROWS && a->is_axis[l - 1] && a->levels[l] == LEVEL_FLAT &&
          !a->is_axis[l]) {
        a->is_axis[l] =
            true; /* u[i][n - 1]: a row has an axis, also where one cell of it is used */
        add_stride(a, l, port_poly_number(1));
      }
      if (!a->is_axis[l]) continue;
      if (a->levels[l] == LEVEL_TYPED && a->nstrides[l] &&
          (a->nstrides[l] > 1 || !port_poly_equal(a->strides[l][0], port_poly_number(1))))
        a->levels[l] = LEVEL_FLAT; /* double u[NX * NY] */
      if (a->levels[l] == LEVEL_FLAT)
        settle_flat(a, l);
      else
        add_axis(a, l, port_poly_bad(),
                 a->extents[l] > 0 ? port_poly_number(a->extents[l]) : port_poly_bad());
    }
  }
}

/* The loops of a nest that a polynomial has: split off, so that the rest can be divided. */
static poly loops_of(const nest *n, poly p, poly *rest)
{
  poly loops = {0}, c, r;

  for (int k = 0; k < n->nloops; k++)
    if (port_poly_split(p, n->loops[k].atom, &c, &r) && c.n) {
      loops = port_poly_add(loops, port_poly_mul(c, port_poly_atom(n->loops[k].atom)));
      p = r;
    }
  *rest = p;
  return loops;
}

static bool has_loop(const nest *n, poly p)
{
  for (int k = 0; k < n->nloops; k++)
    if (port_poly_has(p, n->loops[k].atom)) return true;
  return false;
}

/* An index without a loop variable that came out negative is one from the end of the axis: nx + 1
 * of rows of nx + 2 is not -1 of the next row. */
static void borrow(const nest *n, access *a, int first, int end)
{
  for (int d = end - 1; d > first; d--) {
    int64_t x;

    if (has_loop(n, a->index[d]) || !port_poly_is_number(a->index[d], &x) || x >= 0) continue;
    a->index[d] = port_poly_add(a->index[d], a->array->extent_of[d]);
    a->index[d - 1] = port_poly_sub(a->index[d - 1], port_poly_number(1));
  }
}

static const char *tell_shape(const array *a)
{
  return port_text("tell the shape: #pragma ambit shape(%s[ny][nx])", port_array_name(a));
}

/* Whether the rest of a subscript is one of a few values that lie together in a cell, as no loop
 * has the stride 1. Each is an array of its own then, so that a nest which writes several is one
 * step. */
static bool is_part(access *a, int l, int last, poly rest)
{
  const array *s = a->array;
  int64_t stride, x;

  if (s->has_rest[l] || !s->nstrides[l] || !port_poly_is_number(rest, &x) ||
      !port_poly_is_number(s->strides[l][s->nstrides[l] - 1], &stride) || stride > MOST_PARTS ||
      x <= -stride || x >= stride)
    return false;
  if (x < 0) a->index[last] = port_poly_sub(a->index[last], port_poly_number(1));
  a->parts[l] = x < 0 ? x + stride : x;
  return true;
}

static bool split_flat(nest *n, access *a, int l, poly p, int *axis)
{
  const int first = *axis;
  array *s = a->array;
  poly rest, loops = loops_of(n, p, &rest), q, r;

  a->parts[l] = 0;
  for (int i = 0; i < s->nstrides[l]; i++) {
    poly index = {0};

    for (int k = 0; k < n->nloops; k++)
      if (port_poly_split(loops, n->loops[k].atom, &q, &r) && q.n &&
          port_poly_equal(q, s->strides[l][i])) {
        index = port_poly_add(index, port_poly_atom(n->loops[k].atom));
        loops = r;
      }
    port_poly_divide(rest, s->strides[l][i], &q, &r);
    a->index[(*axis)++] = port_poly_add(index, q);
    rest = r;
  }
  borrow(n, a, first, *axis);
  if (rest.is_bad || loops.n)
    return port_refuse(
        n, a->node, port_text("the subscript of '%s' does not fit its shape", port_array_name(s)),
        tell_shape(s));
  if (rest.n && is_part(a, l, *axis - 1, rest)) return true;
  if (rest.n && !s->has_rest[l]) {
    s->has_rest[l] = true; /* an axis is missing: the caller settles again */
    return port_refuse(n, a->node, "", NULL);
  }
  return !rest.n ||
         port_refuse(n, a->node,
                     port_text("the subscript of '%s' does not fit its shape", port_array_name(s)),
                     tell_shape(s));
}

/* Guarded indices belong to the axis whose stride they are multiplied by. */
static void note_guards(const nest *n, access *a, int l, int first, int end)
{
  for (int i = 0; i < n->nguards; i++) {
    poly c, r;

    if (!port_poly_has(a->subs[l], n->guards[i].atom) ||
        !port_poly_split(a->subs[l], n->guards[i].atom, &c, &r))
      continue;
    for (int k = first; k < end; k++)
      if (a->array->levels[l] != LEVEL_FLAT || port_poly_equal(a->array->stride_of[k], c))
        a->guards[k] = &n->guards[i];
  }
}

static bool apply(nest *n, access *a)
{
  int axis = 0;

  if (a->array->is_unclear)
    return port_refuse(
        n, a->node,
        port_text("the strides of '%s' do not divide each other: its shape is not clear",
                  port_array_name(a->array)),
        tell_shape(a->array));
  if (port_row_levels(a->array) < 0)
    return port_refuse(
        n, a->node,
        port_text("the rows of '%s' are found by pointers that are not in a table of their own",
                  a->array->root->name),
        "one piece of memory, or rows behind pointers as in double **a, are understood");
  for (int l = 0; l < a->nsubs; l++) {
    const int first = axis;
    poly p;

    if (!a->array->is_axis[l]) continue;
    p = unguarded(n, a->subs[l]);
    if (a->array->levels[l] == LEVEL_FLAT) {
      if (!split_flat(n, a, l, p, &axis)) return false;
    } else
      a->index[axis++] = p;
    note_guards(n, a, l, first, axis);
  }
  a->naxes = axis;
  for (int d = 0; d < axis; d++)
    for (int k = 0; k < n->nloops; k++) {
      poly c, r;
      int64_t x;

      if (!is_loop_atom(n, n->loops[k].atom) || !port_poly_has(a->index[d], n->loops[k].atom))
        continue;
      if (!port_poly_split(a->index[d], n->loops[k].atom, &c, &r) || !port_poly_is_number(c, &x) ||
          x != 1)
        return port_refuse(n, a->node, "a loop variable is multiplied in the subscript",
                           "one cell per step of the loop is understood");
    }
  return true;
}

/* Whether a loop goes further along an axis than it is known to have elements. */
static bool leaves_row(const nest *n, const access *a, int d, int64_t extent)
{
  for (int k = 0; k < n->nloops; k++) {
    const loop *l = &n->loops[k];
    poly c, r;
    int64_t x;

    if (!port_poly_has(a->index[d], l->atom) || !port_poly_split(a->index[d], l->atom, &c, &r))
      continue;
    if ((port_poly_is_number(port_poly_sub(l->hi, l->lo), &x) && x > extent) ||
        (port_poly_is_number(port_poly_add(l->hi, r), &x) && x > extent))
      return true;
  }
  return false;
}

/* u[i] and u[2 * i] in one function: rows of two elements, and a loop that goes on behind them. */
static bool stays_in_rows(nest *n, const access *a)
{
  const array *s = a->array;
  int64_t extent;

  for (int d = 1; d < a->naxes; d++)
    if (s->levels[s->level_of[d]] == LEVEL_FLAT && s->level_of[d] == s->level_of[d - 1] &&
        !a->guards[d] && port_poly_is_number(s->extent_of[d], &extent) &&
        leaves_row(n, a, d, extent))
      return port_refuse(
          n, a->node,
          port_text("%s leaves a row: other subscripts give '%s' rows of %d elements",
                    port_access_shown(a), port_array_name(s), (int)extent),
          "a loop for each axis, or another array, would run in parallel");
  return true;
}

/* The furthest index of each axis, where accesses can be compared. */
static void note_reach(const nest *n, const access *a)
{
  for (int d = 0; d < a->naxes; d++) {
    array *s = a->array;
    poly end = port_poly_add(a->index[d], port_poly_number(1)), c, r;
    int64_t x;

    if (a->guards[d]) continue;
    for (int k = 0; k < n->nloops; k++)
      if (port_poly_has(end, n->loops[k].atom) && port_poly_split(end, n->loops[k].atom, &c, &r))
        end = port_poly_add(port_poly_sub(r, port_poly_number(1)), n->loops[k].hi);
    if (!s->has_reach[d]) s->reach_of[d] = end;
    s->has_reach[d] = true;
    if (!port_poly_is_number(port_poly_sub(end, s->reach_of[d]), &x)) {
      if (port_poly_is_number(s->reach_of[d], NULL))
        s->reach_of[d] = end; /* n is more than a number */
    } else if (x > 0)
      s->reach_of[d] = end;
  }
}

bool port_shapes_apply(nest *n, bool has_all)
{
  for (int tries = 0; tries < 4; tries++) {
    bool ok = true;

    for (int i = 0; ok && i < n->naccesses; i++)
      ok = apply(n, n->accesses[i]);
    for (int i = 0; ok && i < n->naccesses; i++)
      note_reach(n, n->accesses[i]);
    for (int i = 0; ok && has_all && i < n->naccesses; i++)
      ok = stays_in_rows(n, n->accesses[i]);
    if (ok || (n->why && n->why[0])) return ok;
    n->why = NULL; /* an axis was missing */
    port_shapes_settle();
  }
  return false;
}

/* One loop, along the last axis, and further than that axis goes. */
static bool goes_over_rows(const nest *n, const access *a)
{
  const array *s = a->array;
  const int last = a->naxes - 1;
  int64_t x;

  if (a->nsubs != 1 || s->levels[0] != LEVEL_FLAT || last < 1 || n->nloops != 1) return false;
  for (int d = 0; d < last; d++)
    if (has_loop(n, a->index[d])) return false;
  return has_loop(n, a->index[last]) &&
         !(port_poly_is_number(port_poly_sub(n->loops[0].hi, s->extent_of[last]), &x) && x <= 0);
}

int port_shapes_flat(const nest *n, poly *flat)
{
  for (int i = 0; i < n->naccesses; i++) {
    const array *s = n->accesses[i]->array;

    if (!goes_over_rows(n, n->accesses[i])) continue;
    for (int d = 0; d + 1 < s->naxes; d++)
      flat[d] = s->stride_of[d];
    return s->naxes - 1;
  }
  return 0;
}
