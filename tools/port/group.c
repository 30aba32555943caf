/* SPDX-License-Identifier: BSD-3-Clause */
/* group.c - the steps of a nest: writes of a leaf that go to the same cell, and the arrays they
 * use.
 *
 * The grid of a step has the axes of the array it writes. An array that is read is aligned with it
 * if it has the same loops on the same axes; its accesses are then offsets. Any other array is
 * mapped: an axis of the grid may be another axis of the array (a transposed one), or none (a row
 * of coefficients).
 */
#include "nest.h"

#include <string.h>

enum { FAR = 64 }; /* cells to a neighbour, at most; kernels know 1,000 */

/* ---- which loop an index has ---- */

/* index = loop variable + shift; which -1: no loop in it; false: several. */
static bool take_index(const nest *n, poly index, int *which, poly *shift)
{
  *which = -1;
  *shift = index;
  for (int k = 0; k < n->nloops; k++) {
    poly c, r;

    if (!port_poly_has(index, n->loops[k].atom)) continue;
    if (*which >= 0 || !port_poly_split(index, n->loops[k].atom, &c, &r)) return false;
    *which = k;
    *shift = r;
  }
  return true;
}

static bool is_in(const leaf *l, int which)
{
  for (int i = 0; i < l->nloops; i++)
    if (l->loops[i] == which) return true;
  return false;
}

/* The cell of a step, from the element that it writes (or, if it only reduces, one that it reads).
 */
static bool place_step(step *s, const access *a)
{
  nest *n = s->nest;
  bool has[LOOPS] = {false};

  s->naxes = a->naxes;
  for (int d = 0; d < a->naxes; d++) {
    if (a->is_write && a->guards[d])
      return port_refuse(
          n, a->node,
          "the element that is written is chosen by a guard or a table: several cells "
          "may go to the same one",
          "let each cell write its own element, and read others");
    if (!take_index(n, a->index[d], &s->loop_of[d], &s->shift[d]))
      return port_refuse(n, a->node, "a subscript has two loop variables", NULL);
    if (s->loop_of[d] >= 0) {
      if (has[s->loop_of[d]])
        return port_refuse(n, a->node, "two subscripts have the same loop variable", NULL);
      has[s->loop_of[d]] = true;
    }
  }
  for (int i = 0; i < s->leaf->nloops; i++)
    if (!has[s->leaf->loops[i]])
      return port_refuse(n, a->node,
                         port_text("the element that is written does not depend on '%s': several "
                                   "cells go to the same one",
                                   n->loops[s->leaf->loops[i]].var->name),
                         a->array->root->is_param
                             ? "a work array of one line must be an array of this function: the "
                               "caller of a parameter may use it"
                             : NULL);
  return true;
}

/* ---- accesses of a leaf ---- */

typedef struct found {
  access *at[MOST_ACCESSES];
  int n;
  node *reductions[8];
  int nreductions;
} found;

static bool gather(node *e, void *user)
{
  found *f = user;

  if (e->access && !e->access->is_value && !e->access->is_table && f->n < MOST_ACCESSES)
    f->at[f->n++] = e->access;
  if (e->kind == N_ASSIGN && e->text && f->nreductions < 8) f->reductions[f->nreductions++] = e;
  return !port_is_leaf_access(e);
}

static bool same_cell(const access *a, const access *b)
{
  if (a->naxes != b->naxes) return false;
  for (int d = 0; d < a->naxes; d++)
    if (!port_poly_equal(a->index[d], b->index[d])) return false;
  return true;
}

static step *new_step(nest *n, leaf *l, step ***tail)
{
  step *s = port_new(sizeof *s);

  s->nest = n;
  s->leaf = l;
  **tail = s;
  *tail = &s->next;
  return s;
}

static int loops_in(const nest *n, const access *a, const leaf *l)
{
  int count = 0;

  for (int d = 0; d < a->naxes; d++)
    for (int k = 0; k < n->nloops; k++)
      count += is_in(l, k) && port_poly_has(a->index[d], n->loops[k].atom);
  return count;
}

/* How well the cells of a step that only reduces are those of an access: all loops are in it, and
 * no guard. */
static int fitness(const nest *n, const access *a, const leaf *l)
{
  int fit = 2 * loops_in(n, a, l);

  for (int d = 0; d < a->naxes; d++)
    if (a->guards[d]) return fit - 1;
  return fit;
}

static bool leaf_steps(nest *n, leaf *l, step ***tail)
{
  found f = {.n = 0};
  step *first = NULL, *s = NULL;
  access *best = NULL;

  port_walk(l->body, gather, &f);
  for (int i = 0; i < f.n; i++) {
    if (!f.at[i]->is_write) continue;
    for (s = first; s; s = s->next)
      if (same_cell(s->writes[0], f.at[i]) && (!n->most_writes || s->nwrites < n->most_writes))
        break;
    if (!s) {
      s = new_step(n, l, tail);
      if (!first) first = s;
    }
    if (s->nwrites < 64) s->writes[s->nwrites++] = f.at[i];
  }
  if (f.nreductions) { /* in the last step, so that it sees the values of the others */
    for (s = first; s && s->next;)
      s = s->next;
    if (!s) {
      for (int i = 0; i < f.n; i++)
        if (!best || fitness(n, f.at[i], l) > fitness(n, best, l)) best = f.at[i];
      if (!best)
        return port_refuse(n, n->node, "the nest reads no array", "it is left to the compiler");
      first = s = new_step(n, l, tail);
    }
    s->has_reductions = true;
  }
  for (s = first; s; s = s->next) {
    const access *at = s->nwrites ? s->writes[0] : best;

    if (at && !place_step(s, at)) return false;
  }
  return true;
}

step *port_steps(nest *n)
{
  step *steps = NULL, **tail = &steps;

  for (leaf *l = n->leaves; l; l = l->next)
    if (!leaf_steps(n, l, &tail)) return NULL;
  return steps;
}

/* ---- parameters ---- */

bool port_range(const nest *n, poly p, int64_t *lo, int64_t *hi)
{
  int64_t x;

  *lo = *hi = 0;
  for (int k = 0; k < n->ninner; k++) {
    poly c, r;
    int64_t first, last, factor;

    if (!port_poly_has(p, n->inner[k].atom)) continue;
    if (!port_poly_split(p, n->inner[k].atom, &c, &r) || !port_poly_is_number(c, &factor))
      return false;
    port_poly_is_number(n->inner[k].lo, &first);
    port_poly_is_number(n->inner[k].hi, &last);
    last--;
    *lo += factor * (factor < 0 ? last : first);
    *hi += factor * (factor < 0 ? first : last);
    p = r;
  }
  if (!port_poly_is_number(p, &x)) return false;
  *lo += x;
  *hi += x;
  return true;
}

/* The distance to the other end of an axis, as a short one round the edge; *extent: the required
 * extent of the axis. */
static bool round_edge(const step *s, const access *a, int d, poly *diff, poly *extent)
{
  const poly candidates[2] = {a->array->extent_of[d],
                              a->array->has_reach[d] ? a->array->reach_of[d] : port_poly_bad()};

  for (int i = 0; i < 2; i++) {
    const poly n = candidates[i], back = port_poly_sub(*diff, n), forth = port_poly_add(*diff, n);
    int64_t lo, hi;

    if (n.is_bad || (!port_range(s->nest, back, &lo, &hi) && !port_range(s->nest, forth, &lo, &hi)))
      continue;
    *diff = !port_range(s->nest, back, &lo, &hi)             ? forth
            : port_range(s->nest, *diff, &lo, &hi) && lo < 0 ? forth
                                                             : back;
    *extent = n;
    return true;
  }
  return false;
}

/* u[0][j] = u[n][j]: further than a neighbour is, and nearer round the edge. */
static bool is_far(const access *a, int d, int64_t lo, int64_t hi)
{
  int64_t n;

  return lo == hi && (lo > FAR || lo < -FAR) && port_poly_is_number(a->array->extent_of[d], &n) &&
         (lo < 0 ? -lo : lo) > n / 2;
}

static bool has_short(const nest *n, poly p)
{
  for (int k = 0; k < n->ninner; k++)
    if (port_poly_has(p, n->inner[k].atom)) return true;
  return false;
}

/* Whether conditions around an access keep it inside the array, where the loop alone would leave
 * it. Variables of short loops may be in the index: the worst of their values counts. */
static bool is_kept_inside(const step *s, const access *a, int d, int which, poly shift)
{
  static const char reason[] = "it reads outside the extents of an array";
  const loop *l;
  poly end, lo, hi;
  int64_t least, most, x;

  if (which < 0 || which >= a->nfrom || a->guards[d] || !a->is_read) return false;
  l = &s->nest->loops[which];
  end = a->array->extent_of[d];
  if (end.is_bad) end = port_poly_add(l->hi, s->shift[d]);
  lo = port_poly_add(l->lo, shift);
  hi = port_poly_sub(port_poly_add(l->hi, shift), end);
  if (!(port_range(s->nest, lo, &least, &x) && least < 0) &&
      !(port_range(s->nest, hi, &x, &most) && most > 0))
    return false;
  lo = port_poly_add(a->from[which], shift);
  hi = port_poly_sub(port_poly_add(a->to[which], shift), end);
  if ((port_range(s->nest, lo, &least, &x) && least < 0) ||
      (port_range(s->nest, hi, &x, &most) && most > 0) || has_short(s->nest, lo) ||
      has_short(s->nest, hi))
    return false;
  if (!port_poly_is_number(lo, NULL))
    port_require(s->nest, port_text("(%s) >= 0", port_poly_code(lo)), reason);
  if (!port_poly_is_number(hi, NULL))
    port_require(s->nest, port_text("(%s) <= 0", port_poly_code(hi)), reason);
  return true;
}

static void add_near(param *p, int d, const guard *g)
{
  for (int i = 0; i < 4; i++)
    if (!p->near[d][i] || p->near[d][i] == g) {
      p->near[d][i] = g;
      return;
    }
  p->periodic |= 1u << d; /* too many: refused, since it is clamped as well */
  p->clamp |= 1u << d;
}

int port_step_table(step *s, const guard *g)
{
  int i = 0;

  while (i < s->ntables && s->tables[i] != g)
    i++;
  if (i == s->ntables && i < 8) s->tables[s->ntables++] = g;
  return i;
}

/* Which axis of the array each axis of the grid is. */
static bool align(const step *s, const access *a, param *p, poly *offsets)
{
  int which;
  poly shift;

  if (a->naxes != s->naxes) return false;
  for (int d = 0; d < s->naxes; d++) {
    int64_t lo, hi;
    bool is_known;
    poly diff;

    if (!take_index(s->nest, a->index[d], &which, &shift)) return false;
    if (which < 0 && s->loop_of[d] >= 0 && s->loop_of[d] < a->nfrom &&
        port_poly_equal(port_poly_sub(a->to[s->loop_of[d]], a->from[s->loop_of[d]]),
                        port_poly_number(1))) {
      which =
          s->loop_of[d]; /* a condition leaves one value of the loop variable: count from there */
      shift = port_poly_sub(shift, a->from[which]);
    }
    if (which != s->loop_of[d]) return false;
    diff = port_poly_sub(shift, s->shift[d]);
    p->axis_of[d] = d;
    p->fold[d] = (poly){0};
    p->extent[d] = port_poly_bad();
    is_known = port_range(s->nest, diff, &lo, &hi);
    if (!is_known || is_far(a, d, lo, hi)) { /* round the edge: the other end of the axis */
      if (round_edge(s, a, d, &diff, &p->extent[d])) {
        p->periodic |= 1u << d;
        p->exact |= 1u << d;
      } else if (!is_known)
        return false;
    }
    offsets[d] = diff;
    if (is_kept_inside(s, a, d, which, shift)) {
      const poly n = a->array->extent_of[d];

      p->clamp |= 1u << d; /* reads outside are not used */
      p->loose |= 1u << d;
      p->extent[d] = n.is_bad ? port_poly_add(s->nest->loops[which].hi, s->shift[d]) : n;
    }
    if (a->guards[d]) {
      if (a->guards[d]->table)
        add_near(p, d, a->guards[d]);
      else if (a->guards[d]->is_periodic)
        p->periodic |= 1u << d;
      else
        p->clamp |= 1u << d;
      p->exact |= 1u << d;
      p->extent[d] = a->guards[d]->n;
    }
  }
  return true;
}

static bool map(step *s, const access *a, param *p, poly *offsets)
{
  nest *n = s->nest;
  bool used[AXES] = {false};

  p->periodic = p->clamp = 0;
  for (int d = 0; d < s->naxes; d++) {
    p->axis_of[d] = -1;
    p->extent[d] = port_poly_bad();
    offsets[d] = (poly){0};
    for (int e = 0; e < a->naxes && s->loop_of[d] >= 0; e++) {
      int which;
      int64_t lo, hi;
      poly shift, diff;

      if (!take_index(n, a->index[e], &which, &shift))
        return port_refuse(n, a->node, "a subscript has two loop variables", NULL);
      if (which != s->loop_of[d] || used[e]) continue;
      used[e] = true;
      p->axis_of[d] = e;
      diff = port_poly_sub(shift, s->shift[d]);
      if (port_range(n, diff, &lo, &hi))
        offsets[d] = diff;
      else
        p->fold[e] = diff;
      if (a->guards[e])
        return port_refuse(
            n, a->node, "a guarded index of an array with other axes than the one written", NULL);
      break;
    }
  }
  for (int e = 0; e < a->naxes; e++) {
    int which;
    poly shift;

    if (used[e]) continue;
    if (!take_index(n, a->index[e], &which, &shift) || which >= 0 || a->guards[e])
      return port_refuse(
          n, a->node,
          port_text("'%s' is read at a place that does not move with the cell that is written",
                    a->array->root->name),
          NULL);
    p->fold[e] = shift;
  }
  for (int e = 0; e < a->naxes; e++) /* no variable of a short loop in the base */
    if (has_short(n, p->fold[e]))
      return port_refuse(n, a->node, "a short loop goes along an axis that is not one of the grid",
                         NULL);
  return true;
}

/* Which plane or component it is must not depend on a loop of the kernel. */
static bool has_steady_base(const nest *n, const access *a)
{
  for (int l = 0; l < a->nsubs; l++)
    if (!a->array->is_axis[l] && has_short(n, a->subs[l])) return false;
  return true;
}

static bool same_base(const access *a, const access *b)
{
  for (int l = 0; l < a->nsubs; l++)
    if (a->parts[l] != b->parts[l] ||
        (!a->array->is_axis[l] && !port_poly_equal(a->subs[l], b->subs[l])))
      return false;
  return true;
}

static bool same_param(const param *p, const param *q, const access *a, int naxes)
{
  if (!p->array || p->array != a->array || !same_base(p->like, a)) return false;
  for (int d = 0; d < naxes; d++)
    if (p->axis_of[d] != q->axis_of[d]) return false;
  for (int e = 0; e < a->naxes; e++)
    if (!port_poly_equal(p->fold[e], q->fold[e])) return false;
  return true;
}

static const char *unique_name(const step *s, const char *name)
{
  static const char *const words[] = {"sum",      "min",    "max",      "index",  "extent",
                                      "step",     "void",   "float",    "double", "int",
                                      "long",     "short",  "unsigned", "char",   "const",
                                      "restrict", "signed", "if",       "else",   "for"};
  const char *wish = name;
  bool taken = true;

  for (int n = 2; taken; n++) {
    taken = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      taken |= !strcmp(words[i], wish);
    for (int i = 0; i < s->nparams; i++)
      taken |= !strcmp(s->params[i].name, wish);
    for (int i = 0; i < s->nnames; i++)
      taken |= !strcmp(s->names[i], wish);
    if (taken) wish = port_text("%s_%d", name, n);
  }
  return wish;
}

/* The name of a variable in the kernel; sym NULL: a new one. */
const char *port_step_name(step *s, const symbol *sym, const char *wish)
{
  for (int i = 0; sym && i < s->nnames; i++)
    if (s->named[i] == sym) return s->names[i];
  if (s->nnames == 128) return wish;
  s->named[s->nnames] = sym;
  s->names[s->nnames] = unique_name(s, wish);
  return s->names[s->nnames++];
}

static param *add_param(step *s, const param *p, const char *name, const node *at)
{
  if (s->nparams == AMBIT_MAX_PARAMS) {
    s->nest->is_wide = true;
    port_refuse(s->nest, at,
                port_text("the nest needs more than %d arrays and numbers", AMBIT_MAX_PARAMS),
                "split it");
    return NULL;
  }
  s->params[s->nparams] = *p;
  s->params[s->nparams].name = unique_name(s, name);
  return &s->params[s->nparams++];
}

/* Whether a read at these offsets can meet a cell of the box: not where the box is one cell wide.
 */
static bool meets_box(const step *s, const poly *offsets, unsigned round)
{
  bool moves = false;

  for (int d = 0; d < s->naxes; d++) {
    int64_t lo, hi;

    if (round >> d & 1) return true;
    port_range(s->nest, offsets[d], &lo, &hi);
    if (lo || hi) moves = true;
    if (s->loop_of[d] < 0 && (lo > 0 || hi < 0)) return false;
  }
  return moves;
}

/* Tables of pointers go along the first axes of the grid, or one row is used. */
static bool has_rows_in_place(const step *s, const access *a, const param *p)
{
  const int rows = port_row_levels(a->array);
  bool in_place = rows <= s->naxes, is_one = true;

  for (int d = 0; d < s->naxes; d++) {
    is_one &= p->axis_of[d] < 0 || p->axis_of[d] >= rows;
    in_place &=
        d < rows ? p->axis_of[d] == d && !p->fold[d].n : p->axis_of[d] < 0 || p->axis_of[d] >= rows;
  }
  return in_place || is_one;
}

param *port_step_param(step *s, const access *a, poly *offsets)
{
  param want = {.kind = P_READ, .type = a->array->type, .array = a->array, .like = a}, *p = NULL;

  for (int d = 0; d < AXES; d++)
    want.extent[d] = port_poly_bad();
  if (!has_steady_base(s->nest, a)) {
    port_refuse(s->nest, a->node, "a short loop goes through the planes of an array", NULL);
    return NULL;
  }
  if (!align(s, a, &want, offsets) &&
      (a->is_write || a->array->line || !map(s, a, &want, offsets))) {
    port_refuse(s->nest, a->node, "this element is not understood", NULL);
    return NULL;
  }
  if (!has_rows_in_place(s, a, &want)) {
    port_refuse(s->nest, a->node,
                port_text("rows of '%s' lie along another axis than those that are written",
                          a->array->root->name),
                "one piece of memory for the array would run in parallel");
    return NULL;
  }
  for (int i = 0; i < s->nparams && !p; i++)
    if (s->params[i].kind != P_VALUE && same_param(&s->params[i], &want, a, s->naxes))
      p = &s->params[i];
  if (!p && !(p = add_param(s, &want, a->array->root->name, a->node))) return NULL;
  p->periodic |= want.periodic;
  p->clamp |= want.clamp;
  p->exact |= want.exact;
  p->loose = (p->loose | want.loose) & ~p->exact;
  for (int d = 0; d < s->naxes; d++) {
    int64_t lo, hi;

    if (!want.extent[d].is_bad) p->extent[d] = want.extent[d];
    port_range(s->nest, offsets[d], &lo, &hi);
    if (want.near[d][0]) {
      add_near(p, d, want.near[d][0]);
      want.clamp |= 1u << d; /* or periodic */
    }
    if ((want.periodic | want.clamp) >> d & 1) continue;
    if (lo < p->low[d]) p->low[d] = lo;
    if (hi > p->high[d]) p->high[d] = hi;
  }
  if (p->periodic & p->clamp & ~p->loose) {
    port_refuse(s->nest, a->node,
                port_text("'%s' is read round an edge and clamped at it in the same nest",
                          a->array->root->name),
                "split the nest");
    return NULL;
  }
  if (a->is_write && p->kind == P_READ) p->kind = P_WRITE;
  if (a->is_write && (!s->first_write || a->order < s->first_write - 1))
    s->first_write = a->order + 1;
  if (a->is_read && a->order > p->last_read) p->last_read = a->order;
  if (a->carrier == s && a->carried > p->carry) p->carry = a->carried;
  if (a->is_read && a->carrier != s && meets_box(s, offsets, want.periodic | want.clamp))
    p->reads_written = true;
  return p;
}

param *port_step_lookup(step *s, const access *a)
{
  param want = {.kind = P_TABLE, .type = a->array->type, .like = a, .value = port_access_text(a)};
  int unknown = 0;

  for (int i = 0; i < s->nparams; i++) {
    if (s->params[i].kind != P_TABLE) continue;
    if (!strcmp(s->params[i].value, want.value)) return &s->params[i];
    unknown += !port_table_extent(s->params[i].like, 0);
  }
  if (!port_table_extent(a, 0)) s->in_place = NULL; /* its text is not complete */
  if (unknown >= 4) {
    port_refuse(s->nest, a->node, "the nest has too many tables of unknown length", NULL);
    return NULL;
  }
  want.low[0] = 7 - unknown; /* its number in the text */
  return add_param(s, &want, a->array->root->name, a->node);
}

bool port_step_reads_first(const step *s, const param *p)
{
  if (p->kind != P_READ || s->nest->ninner || !s->first_write ||
      p->last_read >= s->first_write - 1 || (p->periodic | p->clamp))
    return false;
  for (int d = 0; d < s->naxes; d++)
    if (p->low[d] || p->high[d] || p->near[d][0]) return false;
  return true;
}

param *port_step_value(step *s, const char *text, value_type type, const access *element)
{
  param want = {.kind = P_VALUE, .type = type, .value = text, .element = element};
  char name[40];
  size_t n = 0;

  for (int i = 0; i < s->nparams; i++)
    if (s->params[i].kind == P_VALUE && !strcmp(s->params[i].value, text) &&
        s->params[i].type == type)
      return &s->params[i];
  for (const char *c = text; *c && n < sizeof name - 1; c++)
    if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
        (n && *c >= '0' && *c <= '9'))
      name[n++] = *c;
    else if (n && name[n - 1] != '_')
      name[n++] = '_';
  name[n] = 0;
  return add_param(s, &want, n ? port_text("%s", name) : "value", s->nest->node);
}
