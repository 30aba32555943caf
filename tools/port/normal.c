/* SPDX-License-Identifier: BSD-3-Clause */
/* normal.c - other ways to write a nest become the one that the rest of the translator knows.
 *
 *   switch (c) { case A: ...; break; ... }              if (c == A) ... else ...
 *   v[k++] = x;                                         v[k] = x; k++;
 *   for (ii = a; ii < b; ii += B)                       for (i = a; i < b; i++)
 *     for (i = ii; i < min(ii + B, b); i++)
 *   for (p = 0; p < nx * ny; p++) {                     for y, for x, p = y * nx + x
 *     x = p % nx; y = p / nx; ... }
 *   for (j = ...) memcpy(&u[a], &v[b], n * sizeof *u);  for j, for i, u[a + i] = v[b + i]
 *
 * The order of cells may change: it is proved later that it does not matter.
 */
#include "nest.h"

#include <string.h>

static node *binary(const char *op, node *a, node *b, const node *like)
{
  node *e = port_node(N_BINARY, like);

  e->op = op;
  e->a = a;
  e->b = b;
  e->type = a->type == T_I64 || b->type == T_I64 ? T_I64 : T_I32;
  e->ctype = like->ctype;
  return e;
}

static node *block_of(node *list, const node *like)
{
  node *b = port_node(S_BLOCK, like);

  b->list = list;
  return b;
}

static node *listed(node *s)
{
  return !s ? NULL : s->kind == S_BLOCK ? s->list : s;
}

static bool names(node *e, void *user)
{
  return e->kind == N_NAME && e->sym == user;
}

/* ---- switch ---- */

static bool is_case(const node *s)
{
  return s->kind == S_OTHER && s->text && s->text[0] != 's';
}

static bool breaks(node *e, void *user)
{
  (void)user;
  return e->kind == S_BREAK || is_case(e);
}

/* One branch: the labels before it, and statements up to a break. */
typedef struct arm {
  node *condition; /* NULL: default */
  node *list;
} arm;

/* Whether the statement at *at, or the last one of a block there, ends a branch; a break is left
 * out. */
static bool ends_arm(node **at)
{
  node *s = *at, **last;

  if (s->kind == S_BREAK) *at = NULL;
  if (s->kind != S_BLOCK || !s->list)
    return s->kind == S_BREAK || s->kind == S_RETURN || s->kind == S_CONTINUE;
  for (last = &s->list; (*last)->next;)
    last = &(*last)->next;
  return ends_arm(last);
}

/* The statements from *at on, labels first; moves *at behind the last one. False: it goes on into
 * the next label. */
static bool read_arm(node **at, node *value, arm *out)
{
  node *s = *at, **tail = &out->list;
  bool is_default = false;

  out->condition = out->list = NULL;
  while (s && is_case(s)) {
    const bool is_named = s->text[0] == 'c';
    node *inside = is_named ? s->list->next : s->list;

    if (is_named) {
      node *same = binary("==", port_copy_tree(value), port_copy_tree(s->list), s);

      out->condition = out->condition ? binary("||", out->condition, same, s) : same;
    }
    is_default |= !is_named;
    if (inside && is_case(inside)) {
      inside->next = s->next;
      s = inside;
      continue;
    }
    if (inside) inside->next = s->next;
    s = inside ? inside : s->next;
    break;
  }
  if (is_default) out->condition = NULL;
  for (bool ends = false; s && !ends; s = *at) {
    *at = s->next;
    s->next = NULL;
    *tail = s;
    ends = ends_arm(tail);
    if (*tail && port_find(*tail, breaks, NULL)) return false;
    if (*tail) tail = &(*tail)->next;
  }
  if (!s) *at = NULL;
  return true;
}

static node *from_switch(node *s)
{
  node *value = s->list, *at = listed(value ? value->next : NULL), *first = NULL, **tail = &first;
  node *otherwise = NULL;
  arm a;

  while (at) {
    if (!is_case(at) || !read_arm(&at, value, &a)) return NULL;
    if (!a.condition) {
      otherwise = block_of(a.list, s);
      continue;
    }
    *tail = port_node(S_IF, s);
    (*tail)->a = a.condition;
    (*tail)->b = block_of(a.list, s);
    tail = &(*tail)->c;
  }
  *tail = otherwise;
  return first ? first : otherwise ? otherwise : port_node(S_NULL, s);
}

void port_switches(node **at)
{
  node *s = *at, *to;

  if (!s) return;
  if (s->kind == S_OTHER && s->text && !strcmp(s->text, "switch") && (to = from_switch(s))) {
    to->next = s->next;
    *at = s = to;
  }
  port_switches(&s->b);
  port_switches(&s->c);
  port_switches(&s->d);
  for (node **k = &s->list; *k; k = &(*k)->next)
    port_switches(k);
}

/* ---- v[k++] ---- */

static bool is_step(node *e, void *user)
{
  (void)user;
  return e->kind == N_UNARY && (!strcmp(e->op, "p++") || !strcmp(e->op, "p--"));
}

static int count_names(node *n, const symbol *s)
{
  int count = 0;

  if (!n) return 0;
  if (n->kind == N_NAME && n->sym == s) count++;
  count +=
      count_names(n->a, s) + count_names(n->b, s) + count_names(n->c, s) + count_names(n->d, s);
  for (node *k = n->list; k; k = k->next)
    count += count_names(k, s);
  return count;
}

/* The step that stands in a subscript of a statement, as a statement of its own; NULL: none. */
static node *step_after(node *s)
{
  node *e = s->a, *found, *after;

  if (s->kind != S_EXPR || e->kind != N_ASSIGN) return NULL;
  found = port_find(e->a->kind == N_INDEX ? e->a : NULL, is_step, NULL);
  if (!found) found = port_find(e->b, is_step, NULL);
  if (!found || found->a->kind != N_NAME || count_names(e, found->a->sym) != 1) return NULL;
  after = port_node(S_EXPR, s);
  after->a = port_node(N_UNARY, found);
  after->a->op = found->op;
  after->a->a = found->a;
  after->a->type = found->type;
  *found = *port_copy_tree(found->a);
  return after;
}

/* ---- tiles ---- */

static bool is_name(const node *e, const symbol *s)
{
  return e && e->kind == N_NAME && e->sym == s;
}

static symbol *variable_of(const node *f)
{
  const node *init = f->a && f->a->kind == S_EXPR ? f->a->a : f->a;

  if (init && init->kind == S_DECL && init->list && !init->list->next) return init->list->sym;
  return init && init->kind == N_ASSIGN && init->a->kind == N_NAME ? init->a->sym : NULL;
}

static node **first_of(node *f)
{
  node *init = f->a->kind == S_EXPR ? f->a->a : f->a;

  return init->kind == S_DECL ? &init->list->a : &init->b;
}

/* min(ii + B, b), in both orders, as a choice: the end that is not the tile's. */
static node *end_of_tiles(node *limit, const symbol *tile, const char *width)
{
  const node *c = limit->kind == N_COND ? limit->a : NULL;
  node *mine, *other;

  if (!c || c->kind != N_BINARY || !strchr("<>", c->op[0])) return NULL;
  mine = port_find(limit->b, names, (void *)(uintptr_t)tile) ? limit->b : limit->c;
  other = mine == limit->b ? limit->c : limit->b;
  if (port_find(other, names, (void *)(uintptr_t)tile)) return NULL;
  if (mine->kind != N_BINARY || strcmp(mine->op, "+") || !is_name(mine->a, tile) ||
      strcmp(port_print(mine->b), width))
    return NULL;
  /* a < b ? a : b, or b > a ? a : b */
  if (strcmp(port_print((c->op[0] == '<') == (mine == limit->b) ? c->a : c->b), port_print(mine)))
    return NULL;
  return other;
}

/* The loop inside f over the cells of one tile; NULL: f goes over no tiles. */
static node *cells_of_tile(node *f, const symbol *tile, node **end, const char *width)
{
  node *s = listed(f->d);

  while (s && !s->next && s->kind == S_FOR) {
    if (variable_of(s) && is_name(*first_of(s), tile) && s->b && s->b->kind == N_BINARY &&
        !strcmp(s->b->op, "<") && is_name(s->b->a, variable_of(s)) &&
        (*end = end_of_tiles(s->b->b, tile, width)))
      return s;
    s = listed(s->d);
  }
  return NULL;
}

static bool untile(node *f)
{
  symbol *tile = variable_of(f);
  node *inner, *end, *first;
  const char *width;

  if (!tile || !f->b || f->b->kind != N_BINARY || strcmp(f->b->op, "<") ||
      !is_name(f->b->a, tile) || !f->c || f->c->kind != N_ASSIGN || strcmp(f->c->op, "+=") ||
      !f->a || f->a->kind != S_DECL)
    return false;
  width = port_print(f->c->b);
  inner = cells_of_tile(f, tile, &end, width);
  if (!inner || strcmp(port_print(end), port_print(f->b->b))) return false;
  first = *first_of(f);
  *first_of(inner) = first;
  inner->b->b = end;
  if (port_find(f->d, names, tile)) return false; /* it is used for something else: refused then */
  *f = *port_copy_tree(listed(f->d));
  return true;
}

/* ---- one loop over a flattened array ---- */

/* The divisors of a flattened index. Names that are made from it are known by how much they were
 * divided by so far. */
typedef struct divisors {
  nest *n;
  int nnames;
  const symbol *names[16];
  poly scales[16];
  int count;
  poly at[AXES]; /* largest first, once sorted */
  bool is_bad;
} divisors;

/* 1 for p and p % n, nx for p / nx; bad: not made from p. */
static poly scale_of(const divisors *d, node *e)
{
  e = port_bare(e);
  for (int i = 0; i < d->nnames && e->kind == N_NAME; i++)
    if (d->names[i] == e->sym) return d->scales[i];
  if (e->kind == N_BINARY && !strcmp(e->op, "%")) return scale_of(d, e->a);
  if (e->kind == N_BINARY && !strcmp(e->op, "/"))
    return port_poly_mul(scale_of(d, e->a), port_poly_of(d->n, e->b));
  return port_poly_bad();
}

static void add_divisor(divisors *d, poly by)
{
  if (by.is_bad || port_poly_equal(by, port_poly_number(1))) return;
  for (int i = 0; i < d->count; i++)
    if (port_poly_equal(d->at[i], by)) return;
  if (d->count == AXES - 1)
    d->is_bad = true;
  else
    d->at[d->count++] = by;
}

static bool find_divisors(node *e, void *user)
{
  divisors *d = user;
  const symbol *made = e->kind == N_DECL && e->a                                        ? e->sym
                       : e->kind == N_ASSIGN && e->a->kind == N_NAME && e->op[0] == '=' ? e->a->sym
                                                                                        : NULL;
  poly scale;

  if (e->kind == N_BINARY && (!strcmp(e->op, "/") || !strcmp(e->op, "%"))) {
    scale = scale_of(d, e->a);
    if (!scale.is_bad) add_divisor(d, port_poly_mul(scale, port_poly_of(d->n, e->b)));
  }
  if (made && d->nnames < 16) {
    scale = scale_of(d, e->kind == N_DECL ? e->a : e->b);
    if (scale.is_bad) return true;
    d->names[d->nnames] = made;
    d->scales[d->nnames++] = scale;
  }
  return true;
}

static bool divides(poly a, poly by)
{
  poly q, r;

  port_poly_divide(a, by, &q, &r);
  return !r.is_bad && !r.n;
}

static bool sort_divisors(divisors *d)
{
  for (int i = 0; i < d->count; i++)
    for (int k = i + 1; k < d->count; k++)
      if (divides(d->at[k], d->at[i])) {
        const poly t = d->at[i];

        d->at[i] = d->at[k];
        d->at[k] = t;
      }
  for (int i = 0; i + 1 < d->count; i++)
    if (!divides(d->at[i], d->at[i + 1])) return false;
  return !d->is_bad;
}

/* An integer that is known as a polynomial only. */
static node *known(poly p, const node *like)
{
  node *e = port_node(N_OPAQUE, like);

  e->type = T_I64;
  e->poly = port_new(sizeof p);
  *e->poly = p;
  return e;
}

/* for (v = 0; v < n; v++) body */
static node *count_to(symbol *v, poly n, node *body, const node *like)
{
  node *f = port_node(S_FOR, like), *d = port_node(N_DECL, like);

  d->sym = v;
  d->type = v->type;
  d->ctype = v->ctype;
  d->text = v->name;
  d->a = port_number(0, like);
  f->a = port_node(S_DECL, like);
  f->a->list = d;
  f->b = binary("<", port_name(v, like), known(n, like), like);
  f->c = port_node(N_UNARY, like);
  f->c->op = "p++";
  f->c->a = port_name(v, like);
  f->c->type = v->type;
  f->d = block_of(body, like);
  return f;
}

/* How often the outermost of the new loops runs: n by the largest stride, which must divide it. */
static poly rounds_of(nest *n, poly all, poly by)
{
  poly q, r;

  port_poly_divide(all, by, &q, &r);
  if (!r.is_bad && !r.n) return q;
  if (!n->nflat) return port_poly_bad();
  port_require(n, port_text("(%s) %% (%s) == 0", port_poly_code(all), port_poly_code(by)),
               "it goes over a part of the rows of an array");
  return port_poly_atom(
      port_atom_of_text(port_text("((%s) / (%s))", port_poly_code(all), port_poly_code(by))));
}

/* The loops, innermost first, and p as their sum. */
static node *axis_loops(const divisors *d, poly rounds, node *decl, const node *f)
{
  symbol *var = decl->list->sym;
  node *sum = NULL, *body = decl;

  for (int i = d->count; i >= 0; i--) {
    const poly stride = i == d->count ? port_poly_number(1) : d->at[i];
    symbol *axis = port_new(sizeof *axis);
    node *part;
    poly q = rounds, r;

    if (i) port_poly_divide(d->at[i - 1], stride, &q, &r);
    *axis = *var;
    axis->name = port_text("%s_%d", var->name, i);
    part =
        i == d->count ? port_name(axis, f) : binary("*", port_name(axis, f), known(stride, f), f);
    sum = sum ? binary("+", part, sum, f) : part;
    body = count_to(axis, q, body, f);
  }
  decl->list->a = sum;
  return body;
}

/* for (p = 0; p < n; p++), where p is divided by strides, or goes over an array that has them: a
 * loop for each axis. The statements inside them, or NULL: it stays. */
static node **unflatten(nest *n, node *f)
{
  symbol *var = variable_of(f);
  divisors d = {.n = n, .nnames = 1, .names = {var}, .scales = {port_poly_number(1)}};
  poly all, rounds;
  node *body, *decl;

  if (!var || (f->a->kind != S_DECL && !port_is_private(n, var)) || !f->b ||
      f->b->kind != N_BINARY || strcmp(f->b->op, "<") || !is_name(f->b->a, var) ||
      !(*first_of(f))->is_constant || (*first_of(f))->value || !f->c || f->c->kind != N_UNARY)
    return NULL;
  port_walk(f->d, find_divisors, &d);
  for (int i = 0; i < n->nflat && f == n->copy; i++)
    add_divisor(&d, n->flat[i]);
  all = port_poly_of(n, f->b->b);
  if (!d.count || all.is_bad || !sort_divisors(&d)) return NULL;
  rounds = rounds_of(n, all, d.at[0]);
  if (rounds.is_bad) return NULL;
  decl = port_node(S_DECL, f);
  decl->list = port_node(N_DECL, f);
  decl->list->sym = var;
  decl->list->type = var->type;
  decl->list->ctype = var->ctype;
  decl->next = listed(f->d);
  body = axis_loops(&d, rounds, decl, f);
  body->next = f->next;
  *f = *body;
  return &decl->next;
}

/* ---- rows that are copied ---- */

static CXType element_of(const node *pointer)
{
  const CXType t = clang_getCanonicalType(pointer->ctype);

  return clang_getCanonicalType(port_type_of(t) == T_ARRAY ? clang_getArrayElementType(t)
                                                           : clang_getPointeeType(t));
}

static node *without_casts(node *e)
{
  while (e->kind == N_CAST)
    e = e->a;
  return e;
}

static node *element(node *pointer, symbol *at)
{
  node *e = port_node(N_INDEX, pointer);

  e->a = pointer;
  e->b = port_name(at, pointer);
  e->ctype = element_of(pointer);
  e->type = port_type_of(e->ctype);
  return e;
}

/* memcpy(u, v, n * sizeof *u) as a loop; NULL: it is something else. */
static node *from_memcpy(nest *n, node *s)
{
  node *call = s->kind == S_EXPR ? without_casts(s->a) : NULL, *to, *from, *copy;
  symbol *at = port_new(sizeof *at);
  poly count, rest;

  if (!call || call->kind != N_CALL || strcmp(call->text, "memcpy") || !call->list ||
      !call->list->next || !call->list->next->next)
    return NULL;
  to = without_casts(call->list);
  from = without_casts(call->list->next);
  if ((to->type != T_POINTER && to->type != T_ARRAY) ||
      (from->type != T_POINTER && from->type != T_ARRAY) ||
      !clang_equalTypes(clang_getUnqualifiedType(element_of(to)),
                        clang_getUnqualifiedType(element_of(from))) ||
      port_type_of(element_of(to)) > T_INTEGER)
    return NULL;
  port_poly_divide(port_poly_of(n, call->list->next->next),
                   port_poly_number(clang_Type_getSizeOf(element_of(to))), &count, &rest);
  if (rest.is_bad || rest.n) return NULL;
  *at = (symbol){.name = "port_at", .type = T_I64};
  to->next = from->next = NULL;
  copy = port_node(N_ASSIGN, s);
  copy->op = "=";
  copy->a = element(to, at);
  copy->b = element(from, at);
  copy->type = copy->a->type;
  copy->ctype = copy->a->ctype;
  s = port_node(S_EXPR, s);
  s->a = copy;
  return count_to(at, count, s, s);
}

/* The rounds of a loop that copy rows, and do no more. */
static void copy_by_elements(nest *n, node *f)
{
  node *loops = NULL, **tail = &loops;

  for (node *s = listed(f->d), *l; s; s = s->next, tail = &(*tail)->next) {
    if (!(l = from_memcpy(n, s))) return;
    *tail = l;
  }
  if (loops) f->d = block_of(loops, f);
}

/* ---- all of them ---- */

static void normalise(nest *n, node **list)
{
  for (node **at = list; *at; at = &(*at)->next) {
    node *s = *at, *after, **inside = NULL;

    if (s->kind == S_FOR) {
      const struct node *next = s->next;

      if (untile(s)) n->is_untiled = true;
      while (untile(s))
        n->is_untiled = true;
      s->next = (node *)(uintptr_t)next;
      copy_by_elements(n, s);
      inside = unflatten(n, s);
      if (inside) normalise(n, inside);
    }
    if ((after = step_after(s))) {
      after->next = s->next;
      s->next = after;
    }
    if (s->kind == S_BLOCK || s->kind == S_OTHER) normalise(n, &s->list);
    if (s->kind == S_IF) {
      normalise(n, &s->b);
      if (s->c) normalise(n, &s->c);
    }
    if ((s->kind == S_FOR && !inside) || s->kind == S_WHILE || s->kind == S_DO) normalise(n, &s->d);
  }
}

void port_normalise(nest *n)
{
  normalise(n, &n->copy);
}
