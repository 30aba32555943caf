/* SPDX-License-Identifier: BSD-3-Clause */
/* access.c - which element of which array an expression is.
 *
 * u[e], *(u + e), (&u[a])[e], A[e][f], g->u[e], p[e].x, rows[e][f]: all are a path from a variable
 * with subscripts in it. The path with @ in the place of subscripts names the array.
 */
#include "walk.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TABLE = 12288 }; /* elements of a table of a kernel, of 4 bytes each */

array *port_arrays;

bool port_is_element(const node *e)
{
  if (e->kind == N_INDEX || (e->kind == N_UNARY && e->op[0] == '*')) return true;
  return e->kind == N_MEMBER && e->a && (!strcmp(e->op, "->") || port_is_element(e->a));
}

typedef struct path {
  nest *nest;
  bool looks_up; /* subscripts may be anything */
  int nlookups;  /* ... and so many are not linear */
  ambit__text key;
  symbol *root;
  int n;
  poly subs[LEVELS];
  node *text[LEVELS];
  level_kind levels[LEVELS];
  int64_t extents[LEVELS];
  bool open[LEVELS];
  bool behind[LEVELS];
} path;

static bool subscript(path *p, const node *at, poly e, node *text)
{
  const CXType t = clang_getCanonicalType(at->ctype);
  level_kind kind = LEVEL_FLAT;
  int64_t extent = -1;
  bool is_open = false;

  if (p->n == LEVELS) return port_refuse(p->nest, at, "there are too many subscripts", NULL);
  if (e.is_bad && p->looks_up && text) {
    p->nlookups++;
    e = port_poly_number(0);
  }
  if (e.is_bad) {
    return port_refuse(
        p->nest, text ? text : at, "the subscript is not linear in the loop variables",
        "subscripts like [(k * ny + j) * nx + i] are understood, with strides that the "
        "nest does not change");
  }
  if (t.kind == CXType_ConstantArray || t.kind == CXType_VariableArray ||
      t.kind == CXType_IncompleteArray) {
    kind = LEVEL_TYPED;
    extent = t.kind == CXType_ConstantArray ? clang_getArraySize(t) : -1;
    is_open = t.kind == CXType_IncompleteArray || (at->kind == N_NAME && at->sym->is_param);
  } else {
    const CXType to = clang_getCanonicalType(clang_getPointeeType(t));

    if (to.kind == CXType_Pointer) kind = LEVEL_ROWS;
    if (port_type_of(to) == T_ARRAY) kind = LEVEL_TYPED, is_open = true;
  }
  p->behind[p->n] = port_type_of(t) == T_POINTER;
  p->subs[p->n] = e;
  p->text[p->n] = text;
  p->levels[p->n] = kind;
  p->extents[p->n] = extent;
  p->open[p->n++] = is_open;
  return true;
}

static bool follow(path *p, node *e);

/* The pointer e, moved by an integer: its path, and then one subscript. */
static bool pointer(path *p, node *e, poly by, node *text)
{
  while (e->kind == N_CAST && e->type == T_POINTER && e->a->type == T_POINTER &&
         port_type_of(clang_getPointeeType(clang_getCanonicalType(e->ctype))) ==
             port_type_of(clang_getPointeeType(clang_getCanonicalType(e->a->ctype))))
    e = e->a;
  if (e->kind == N_BINARY && (e->op[0] == '+' || e->op[0] == '-') && !e->op[1]) {
    node *base = e->a->type == T_POINTER || e->a->type == T_ARRAY ? e->a : e->b;
    node *offset = base == e->a ? e->b : e->a;
    poly x = port_poly_of(p->nest, offset);

    return pointer(p, base, e->op[0] == '+' ? port_poly_add(by, x) : port_poly_sub(by, x), NULL);
  }
  if (e->kind == N_UNARY && e->op[0] == '&' && e->a->kind == N_INDEX)
    return pointer(p, e->a->a, port_poly_add(by, port_poly_of(p->nest, e->a->b)), NULL);
  if (!follow(p, e)) return false;
  ambit__print(&p->key, "[@]");
  return subscript(p, e, by, text);
}

static bool follow(path *p, node *e)
{
  switch (e->kind) {
  case N_NAME:
    p->root = e->sym;
    ambit__print(&p->key, "%s", e->sym->name);
    return true;
  case N_INDEX: return pointer(p, e->a, port_poly_of(p->nest, e->b), e->b);
  case N_UNARY:
    if (e->op[0] == '*') return pointer(p, e->a, port_poly_number(0), NULL);
    break;
  case N_MEMBER:
    if (!follow(p, e->a)) return false;
    ambit__print(&p->key, "%s%s", e->op, e->text);
    return true;
  default: break;
  }
  return port_refuse(p->nest, e, "the array is not a variable or a member",
                     "give it a name before the nest");
}

/* f[q * n + i] as f[q][i]. */
static const char *split_planes(path *p, const char *key, poly *stride)
{
  const int l = p->n - 1;
  poly q, r;
  int64_t n;

  *stride = (poly){0};
  if (p->n == LEVELS || !port_planes_of(p->root, key, stride, &n)) return key;
  port_poly_divide(p->subs[l], *stride, &q, &r);
  p->subs[l] = q;
  p->subs[l + 1] = r;
  p->text[l + 1] = p->text[l];
  p->levels[l] = LEVEL_TYPED;
  p->levels[l + 1] = LEVEL_FLAT;
  p->extents[l] = n;
  p->extents[l + 1] = -1;
  p->open[l] = p->open[l + 1] = true;
  p->behind[l + 1] = false;
  p->n++;
  return port_text("%.*s(@) * (%s) + (@)]", (int)strlen(key) - 2, key, port_poly_code(*stride));
}

/* c[j] as c[i][j]. */
static const line *add_lines(path *p, const char *key)
{
  const line *l = p->n == 1 && strstr(key, "[@]") ? port_line_of(p->nest, p->root) : NULL;
  const path old = *p;

  if (!l) return NULL;
  for (int d = 0, k = 0; d <= l->nouter; d++) {
    const bool is_line = d == l->place;

    p->subs[d] = is_line ? old.subs[0] : port_bound(l->outer[k])->value;
    p->text[d] = is_line ? old.text[0] : NULL;
    p->levels[d] = is_line ? old.levels[0] : LEVEL_TYPED;
    p->extents[d] = is_line ? old.extents[0] : -1;
    p->open[d] = true;
    p->behind[d] = false;
    k += !is_line;
  }
  p->n = l->nouter + 1;
  return l;
}

static array *array_of(const path *p, const char *key, const line *l, node *e)
{
  array *a;

  for (a = port_arrays; a; a = a->next)
    if (a->root == p->root && a->line == l && !strcmp(a->key, key)) return a;
  a = port_new(sizeof *a);
  a->line = l;
  a->key = key;
  a->root = p->root;
  a->type = e->type;
  a->sample = e;
  a->nlevels = p->n;
  memcpy(a->levels, p->levels, sizeof a->levels);
  memcpy(a->extents, p->extents, sizeof a->extents);
  memcpy(a->is_open, p->open, sizeof a->is_open);
  memcpy(a->is_behind, p->behind, sizeof a->is_behind);
  a->next = port_arrays;
  return port_arrays = a;
}

const char *port_array_name(const array *a)
{
  return port_text("%.*s", (int)strcspn(a->key, "["), a->key);
}

/* Whether nothing stands between a subscript and the next one: a[@][@], and not a[@].u[@]. */
static bool is_bare_level(const array *a, int level)
{
  const char *k = a->key;

  for (int l = 0; (k = strchr(k, ']')) && l < level; l++)
    k++;
  return k && k[1] == '[';
}

int port_row_levels(const array *a)
{
  int last = 0, axes = 0;
  bool is_table = true;

  for (int l = 1; l < a->nlevels; l++)
    if (a->is_behind[l]) last = l;
  for (int l = 0; l < last; l++) {
    axes += a->is_axis[l];
    is_table &= a->is_axis[l] && a->is_behind[l + 1] && is_bare_level(a, l);
  }
  return !axes ? 0 : is_table ? last : -1;
}

access *port_access_of(nest *n, node *e)
{
  path p = {.nest = n};
  access *a;
  char *key;
  const char *name;
  const line *l;
  poly plane;

  if (!follow(&p, e)) {
    ambit__text_free(&p.key);
    return NULL;
  }
  if (e->type >= T_INTEGER) {
    ambit__text_free(&p.key);
    port_refuse(n, e, "an array of a type that kernels do not know",
                "float, double and integers of up to 32 bits, or long, are understood");
    return NULL;
  }
  key = ambit__text_finish(&p.key);
  a = port_new(sizeof *a);
  name = split_planes(&p, port_text("%s", key ? key : "?"), &plane);
  l = add_lines(&p, name);
  a->array = array_of(&p, name, l, e);
  a->array->plane = plane;
  free(key);
  a->node = e;
  a->nsubs = p.n;
  memcpy(a->subs, p.subs, sizeof a->subs);
  memcpy(a->subs_text, p.text, sizeof a->subs_text);
  return a;
}

bool port_is_leaf_access(const node *e)
{
  return e->access && !e->access->is_lookup;
}

int64_t port_table_extent(const access *a, int level)
{
  return a->array->levels[level] == LEVEL_TYPED && !a->array->is_open[level] &&
                 a->array->extents[level] > 0
             ? a->array->extents[level]
             : 0;
}

access *port_lookup_of(nest *n, node *e)
{
  const node *fault = n->fault;
  const char *why = n->why, *advice = n->advice;
  path p = {.nest = n, .looks_up = true};
  access *a = NULL;
  bool fits = follow(&p, e) && p.nlookups && p.n <= 2 && e->type <= T_I64;
  char *key = ambit__text_finish(&p.key);
  poly stride;
  int64_t planes;

  for (int l = 0; l < p.n && fits; l++) {
    fits = p.text[l] && p.levels[l] != LEVEL_ROWS && !(l && p.behind[l]);
    p.subs[l] = port_poly_number(0);
  }
  fits = fits && key && !port_planes_of(p.root, key, &stride, &planes);
  n->fault = fault;
  n->why = why;
  n->advice = advice;
  if (fits) {
    a = port_new(sizeof *a);
    a->array = array_of(&p, port_text("%s", key), NULL, e);
    a->node = e;
    a->nsubs = p.n;
    a->is_table = a->is_lookup = true;
    memcpy(a->subs, p.subs, sizeof a->subs);
    memcpy(a->subs_text, p.text, sizeof a->subs_text);
    fits = (p.n == 1 || port_table_extent(a, 1)) &&
           port_table_extent(a, 0) * (p.n == 2 ? port_table_extent(a, 1) : 1) <= MOST_TABLE;
  }
  free(key);
  return fits ? a : NULL;
}

static const char *fill(const access *a, bool whole, bool is_code)
{
  ambit__text t = {0};
  const char *copy;
  char *out;
  int level = a->array->line ? a->array->line->place : 0;

  for (const char *k = a->array->key; *k; k++) {
    if (*k != '@') {
      ambit__print_chars(&t, k, 1);
      continue;
    }
    ambit__print(&t, "%s",
                 !whole && a->array->is_axis[level] ? port_text("%lld", (long long)a->parts[level])
                 : is_code                          ? port_poly_code(a->subs[level])
                                                    : port_poly_print(a->subs[level]));
    level++;
  }
  out = ambit__text_finish(&t);
  copy = port_text("%s", out ? out : "");
  free(out);
  return copy;
}

const char *port_access_text(const access *a)
{
  return fill(a, true, true);
}

const char *port_base_text(const access *a)
{
  return fill(a, false, true);
}

const char *port_access_shown(const access *a)
{
  return fill(a, true, false);
}
