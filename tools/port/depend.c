/* SPDX-License-Identifier: BSD-3-Clause */
/* depend.c - whether cells may be computed in any order.
 *
 * Two accesses to one array meet where their indices are equal. Along an axis where both have the
 * same loop variable this gives a distance: how many iterations of that loop lie between them. A
 * kernel reads values from before the step (but sees its own cell change); so, in a step, a read
 * must not come after the write of the same element by another cell. Of two steps the first must
 * not touch elements that the second touched earlier.
 */
#include "nest.h"

#include <string.h>

typedef struct distance {
  bool is_never;        /* they never meet */
  bool is_known[LOOPS]; /* per loop of the nest */
  int64_t by[LOOPS];    /* iterations from P to Q; counted in the direction of the loop */
  const guard
      *round[LOOPS]; /* not known, but `by` is, or lies beyond an end of this periodic axis */
} distance;

/* Whether a fixed index lies outside the range of a loop variable plus shift, provably. */
static bool is_outside(const loop *l, poly fixed, poly shift)
{
  const poly at = port_poly_sub(fixed, shift);
  int64_t x;

  if (port_poly_is_number(port_poly_sub(at, l->lo), &x) && x < 0) return true;
  return port_poly_is_number(port_poly_sub(at, l->hi), &x) && x >= 0;
}

static int loop_in(const nest *n, poly index, poly *shift)
{
  for (int k = 0; k < n->nloops; k++) {
    poly c;

    if (port_poly_has(index, n->loops[k].atom) &&
        port_poly_split(index, n->loops[k].atom, &c, shift))
      return k;
  }
  *shift = index;
  return -1;
}

/* Two planes, u[t % 2] and u[(t + 1) % 2]: they differ, or the run says so. */
static bool other_planes(nest *n, const access *p, const access *q)
{
  for (int l = 0; l < p->nsubs; l++) {
    const poly diff = port_poly_sub(p->subs[l], q->subs[l]);
    int64_t x;

    if (p->parts[l] != q->parts[l]) return true;
    if (p->array->is_axis[l]) continue;
    if (port_poly_is_number(diff, &x)) {
      if (x) return true;
      continue;
    }
    port_require(n,
                 port_text("(%s) != (%s)", port_poly_code(p->subs[l]), port_poly_code(q->subs[l])),
                 "it reads what it writes");
    return true;
  }
  return false;
}

/* P at i, Q at (i + 1) % n. */
static void go_round(const nest *n, poly p, const guard *g, distance *d)
{
  poly sp, sq;
  const int lp = loop_in(n, p, &sp), lq = loop_in(n, g->inner, &sq);

  if (g->is_periodic && !g->table && lp >= 0 && lp == lq && n->loops[lp].step == 1 &&
      port_poly_is_number(port_poly_sub(sp, sq), &d->by[lp]))
    d->round[lp] = g;
}

static distance between(nest *n, const access *p, const access *q)
{
  distance d = {other_planes(n, p, q), {false}, {0}, {NULL}};

  for (int axis = 0; axis < p->naxes && !d.is_never; axis++) {
    poly sp, sq, diff;
    int64_t lo, hi;
    const int lp = loop_in(n, p->index[axis], &sp), lq = loop_in(n, q->index[axis], &sq);

    if (q->guards[axis] && !p->guards[axis]) go_round(n, p->index[axis], q->guards[axis], &d);
    if (p->guards[axis] || q->guards[axis]) continue; /* anywhere along this axis */
    diff = port_poly_sub(sp, sq);
    if (lp < 0 && lq < 0) {
      if (port_range(n, diff, &lo, &hi) && (lo > 0 || hi < 0)) d.is_never = true;
    } else if (lp == lq) {
      const loop *l = &n->loops[lp];

      if (!port_range(n, diff, &lo, &hi) || lo != hi) continue;
      if (lo % l->step) d.is_never = true;
      lo /= l->step;
      if (l->is_down) lo = -lo;
      if (d.is_known[lp] && d.by[lp] != lo) d.is_never = true;
      d.is_known[lp] = true;
      d.by[lp] = lo;
    } else if (lp < 0 || lq < 0) {
      if (is_outside(&n->loops[lp < 0 ? lq : lp], lp < 0 ? sp : sq, lp < 0 ? sq : sp))
        d.is_never = true;
    }
  }
  return d;
}

/* -1: Q comes before P; 0: in the same iteration; 1: after; 2: not known. */
static int sign(const distance *d, const int *loops, int nloops)
{
  for (int i = 0; i < nloops; i++) {
    if (!d->is_known[loops[i]]) return 2;
    if (d->by[loops[i]]) return d->by[loops[i]] > 0 ? 1 : -1;
  }
  return 0;
}

/* ---- red and black ---- */

/* An integer modulo 2: a sum of loop variables and of values that all cells share. */
static poly parity_of(nest *n, node *e)
{
  e = port_bare(e);
  if (e->poly) return *e->poly;
  if (e->kind == N_BINARY && e->b->is_constant &&
      ((!strcmp(e->op, "%") && e->b->value == 2) || (!strcmp(e->op, "&") && e->b->value == 1)))
    return parity_of(n, e->a);
  if (e->kind == N_BINARY && strchr("+-^", e->op[0]) && !e->op[1])
    return port_poly_add(parity_of(n, e->a), parity_of(n, e->b));
  return port_poly_of(n, e);
}

/* The cells that compute anything, where the condition holds or fails, have one colour: an integer
 * that is even for all of them. Bad: there is no such condition. */
static poly colour_of(nest *n, node *condition, bool holds)
{
  poly p;

  if (condition->kind == N_UNARY && !strcmp(condition->op, "!"))
    return colour_of(n, condition->a, !holds);
  if (condition->kind == N_BINARY && !strcmp(condition->op, holds ? "&&" : "||")) {
    p = colour_of(n, condition->a, holds);
    return p.is_bad ? colour_of(n, condition->b, holds) : p;
  }
  if (condition->kind != N_BINARY || strcmp(condition->op, holds ? "==" : "!="))
    return port_poly_bad();
  return port_poly_add(parity_of(n, condition->a), parity_of(n, condition->b));
}

static bool has_access(node *e, void *user)
{
  (void)user;
  return e->access && !e->access->is_value && !e->access->is_table;
}

static poly colour_of_leaf(nest *n, const leaf *l)
{
  const node *only = NULL;

  for (node *s = l->body->list; s; s = s->next) {
    if (!port_find(s, has_access, NULL)) continue;
    if (only || s->kind != S_IF || (s->c && port_find(s->b, has_access, NULL)) ||
        port_find(s->a, has_access, NULL))
      return port_poly_bad();
    only = s;
  }
  return only ? colour_of(n, only->a, !only->c) : port_poly_bad();
}

/* Whether cells at this distance have different colours; round an axis, if its extent is even. */
static bool is_other_colour(nest *n, const distance *d, poly colour)
{
  int64_t sum = 0, factor, extent;
  bool is_other;

  for (int k = 0; k < n->nloops && !colour.is_bad; k++) {
    poly c, r;

    if (!port_poly_has(colour, n->loops[k].atom)) continue;
    if (!(d->is_known[k] || d->round[k]) || !port_poly_split(colour, n->loops[k].atom, &c, &r) ||
        !port_poly_is_number(c, &factor))
      return false;
    sum += factor * d->by[k] * n->loops[k].step;
  }
  is_other = !colour.is_bad && sum % 2 != 0;
  for (int k = 0; k < n->nloops && is_other; k++) {
    const poly size = d->round[k] ? d->round[k]->n : port_poly_number(0);

    if (port_poly_is_number(size, &extent))
      is_other = extent % 2 == 0;
    else
      port_require(n, port_text("(%s) %% 2 == 0", port_poly_code(size)),
                   "cells at the two ends of a periodic axis have one colour");
  }
  return is_other;
}

/* ---- steps ---- */

static const char *shown(const access *a)
{
  return port_access_shown(a);
}

typedef struct list {
  access *at[MOST_ACCESSES];
  int n;
  const step *step;
} list;

static bool writes_here(const step *s, const access *a)
{
  for (int i = 0; i < s->nwrites; i++)
    if (s->writes[i] == a) return true;
  return false;
}

/* The accesses that a step makes: those of its leaf, less the writes of other steps. */
static bool gather(node *e, void *user)
{
  list *l = user;

  if (e->kind == N_ASSIGN && e->a->access && !writes_here(l->step, e->a->access)) return false;
  if (e->kind == N_ASSIGN && e->text && !l->step->has_reductions) return false;
  if (e->access && !e->access->is_value && !e->access->is_table && l->n < MOST_ACCESSES)
    l->at[l->n++] = e->access;
  return !port_is_leaf_access(e);
}

enum { MOST_CARRIED = 4 }; /* values of an array, along one axis */

sweeps port_sweeps;

/* A read of a value that the step has written some cells before, along one axis: the cells run in
 * order along it. */
static bool is_carried(const nest *n, step *s, access *r, const distance *d)
{
  int k = -1, axis = 0;

  if (r->is_write || port_sweeps.are_off) return false;
  for (int i = 0; i < s->leaf->nloops; i++) {
    const int at = s->leaf->loops[i];

    if (!d->is_known[at] || (d->by[at] && k >= 0)) return false;
    if (d->by[at]) k = at;
  }
  while (axis < s->naxes && s->loop_of[axis] != k)
    axis++;
  if (k < 0 || axis == s->naxes || s->leaf->nloops < 2 || d->by[k] > MOST_CARRIED ||
      n->loops[k].step != 1 || (s->sweep && s->sweep != axis + 1) ||
      (r->carrier == s && r->carried != d->by[k]))
    return false;
  s->sweep = axis + 1;
  r->carried = (int)d->by[k];
  r->carrier = s;
  return true;
}

static bool within(nest *n, step *s, const list *l)
{
  const poly colour = colour_of_leaf(n, s->leaf);

  if (s->leaf->ncarried) {
    const int k = s->leaf->loops[s->leaf->nloops - 1];

    for (int d = 0; d < s->naxes; d++)
      if (s->loop_of[d] == k) s->sweep = d + 1;
    if (!s->sweep || n->loops[k].step != 1)
      return port_refuse(n, n->loops[k].node, "the loop carries a value from one cell to the next",
                         NULL);
  }
  for (int i = 0; i < l->n; i++)
    for (int k = 0; k < l->n; k++) {
      const access *w = l->at[i];
      access *r = l->at[k];
      distance d;
      int order;

      if (!w->is_write || w == r || w->array != r->array) continue;
      if (r->is_write && !r->is_read && k < i) continue; /* once per pair */
      d = between(n, w, r);
      if (d.is_never || is_other_colour(n, &d, colour)) continue;
      order = sign(&d, s->leaf->loops, s->leaf->nloops);
      if (order == 0 || order == -1 || (order == 1 && is_carried(n, s, r, &d))) continue;
      if (r->is_write && !r->is_read)
        return port_refuse(
            n, r->node,
            port_text("%s and %s write the same elements in different cells", shown(w), shown(r)),
            NULL);
      if (order == 2)
        return port_refuse(
            n, r->node,
            port_text("%s may be an element that this nest writes (%s) in another cell", shown(r),
                      shown(w)),
            "a second array would run in parallel");
      return port_refuse(n, r->node,
                         port_text("%s is written by this nest: cells depend on their order "
                                   "(Gauss-Seidel)",
                                   shown(r)),
                         "red-black or a second array would run in parallel");
    }
  return true;
}

bool port_is_one_colour(nest *n, const step *s)
{
  const poly colour = colour_of_leaf(n, s->leaf);
  list *l = port_new(sizeof *l);

  l->step = s;
  port_walk(s->leaf->body, gather, l);
  for (int i = 0; i < l->n && !colour.is_bad; i++)
    for (int k = 0; k < l->n; k++) {
      const access *w = l->at[i], *r = l->at[k];
      distance d;

      if (!w->is_write || w == r || w->array != r->array) continue;
      d = between(n, w, r);
      if (!d.is_never && !is_other_colour(n, &d, colour) &&
          sign(&d, s->leaf->loops, s->leaf->nloops) != 0)
        return false;
    }
  return !colour.is_bad;
}

/* The step of p runs before that of q, for all cells. */
static bool across(nest *n, const list *p, const list *q)
{
  const leaf *a = p->step->leaf, *b = q->step->leaf;
  int shared = 0;

  while (shared < a->nloops && shared < b->nloops && a->loops[shared] == b->loops[shared])
    shared++;
  for (int i = 0; i < p->n; i++)
    for (int k = 0; k < q->n; k++) {
      const access *x = p->at[i], *y = q->at[k];
      distance d;
      int order;

      if (x->array != y->array || (!x->is_write && !y->is_write)) continue;
      if (x == y) continue;
      d = between(n, x, y);
      if (d.is_never) continue;
      order = sign(&d, a->loops, shared);
      if (order == 1 || (order == 0 && x->order < y->order)) continue;
      return port_refuse(
          n, y->node,
          port_text(
              "the nest writes at several places, and %s and %s may be the same element: cells "
              "depend on their order",
              shown(x), shown(y)),
          "a nest for each place would run in parallel");
    }
  return true;
}

/* A number that all cells share must not be an element that one of them writes. */
static bool shared_number(node *e, void *user)
{
  nest *n = user;

  if (!e->access || !(e->access->is_value || e->access->is_lookup) || !e->access->nsubs)
    return false;
  for (int i = 0; i < n->naccesses; i++)
    if (n->accesses[i]->is_write && n->accesses[i]->array == e->access->array) return true;
  return false;
}

/* A look-up in an array that other nests go over, of unknown length or with several axes: that is
 * no table, but a field that steps change. */
static bool field_lookup(node *e, void *user)
{
  const access *a = e->access;

  (void)user;
  for (int l = 0; a && a->is_lookup && l < a->nsubs; l++)
    if (a->array->is_axis[l] && (!port_table_extent(a, l) || a->array->nstrides[l] > 1))
      return true;
  return false;
}

bool port_depend(nest *n, step *steps)
{
  list *lists[64];
  const node *shared, *looked;
  int count = 0;

  for (leaf *l = n->leaves; l; l = l->next)
    if ((shared = port_find(l->body, shared_number, n)))
      return port_refuse(
          n, shared,
          port_text("all cells read %s, and the nest writes that array", shown(shared->access)),
          "copy the value to a variable before the nest");
  for (leaf *l = n->leaves; l; l = l->next)
    if ((looked = port_find(l->body, field_lookup, NULL)))
      return port_refuse(
          n, looked,
          port_text("the place in '%s' is computed, and other nests go over that array",
                    port_array_name(looked->access->array)),
          "tables that no nest goes over are understood");
  for (step *s = steps; s; s = s->next) {
    if (count == 64) return port_refuse(n, n->node, "the nest writes at too many places", NULL);
    lists[count] = port_new(sizeof(list));
    lists[count]->step = s;
    port_walk(s->leaf->body, gather, lists[count]);
    if (!within(n, s, lists[count])) return false;
    for (int i = 0; i < count; i++)
      if (!across(n, lists[i], lists[count])) return false;
    count++;
  }
  return true;
}
