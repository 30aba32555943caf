/* SPDX-License-Identifier: BSD-3-Clause */
/* unroll.c - writes short loops out, where a nest cannot be translated with them.
 *
 *   for (q = 0; q < 9; q++) g[q][y][x] = f[q][y - cy[q]][x - cx[q]];
 *
 * becomes nine statements with numbers in the place of q, cx[q] and cy[q]. Planes, components and
 * offsets from constant tables need no analysis of their own then. Conditions on numbers vanish.
 */
#include "nest.h"

#include <string.h>

enum { MOST_ROUNDS = 64, MOST_NODES = 40000, TINY = 8 };

static int budget; /* nodes that may still be made */

/* ---- numbers ---- */

static const node *element_of_list(const node *list, int64_t i)
{
  const node *k = list && list->kind == N_LIST ? list->list : NULL;

  while (k && i-- > 0)
    k = k->next;
  return k;
}

static bool is_not_number(node *e, void *user)
{
  (void)user;
  return e->kind != N_NUMBER && e->kind != N_LIST && e->kind != N_UNARY && e->kind != N_BINARY &&
         e->kind != N_CAST;
}

/* Whether everything below e that names s reads an element of it. */
static bool only_reads(const node *e, const symbol *s)
{
  const node *root = e;

  if (!e) return true;
  while (root->kind == N_INDEX)
    root = root->a;
  if (root->kind == N_NAME && root->sym == s) {
    if (e->kind != N_INDEX || e->type > T_INTEGER) return false;
    for (root = e; root->kind == N_INDEX; root = root->a)
      if (!only_reads(root->b, s)) return false;
    return true;
  }
  if (e->kind == N_ASSIGN ||
      (e->kind == N_UNARY && strchr("&+-p", e->op[0]) && strcmp(e->op, "-"))) {
    for (root = e->a; root->kind == N_INDEX;)
      root = root->a;
    if (root->kind == N_NAME && root->sym == s) return false;
  }
  if (!only_reads(e->a, s) || !only_reads(e->b, s) || !only_reads(e->c, s) || !only_reads(e->d, s))
    return false;
  for (const node *k = e->list; k; k = k->next)
    if (!only_reads(k, s)) return false;
  return true;
}

/* A variable of this file or of a function that is only read. */
static bool never_changes(const unit *u, const symbol *s)
{
  if (clang_getCursorLinkage(s->cursor) == CXLinkage_External) return false;
  for (const function *f = u->functions; f; f = f->next)
    if (!only_reads(f->body, s)) return false;
  return true;
}

bool port_is_table(unit *u, symbol *s)
{
  if (s->type != T_ARRAY) return false;
  if (!s->init) s->init = port_initializer(u, s);
  return s->init && s->init->kind == N_LIST && !port_find(s->init, is_not_number, NULL) &&
         (clang_isConstQualifiedType(s->ctype) || never_changes(u, s));
}

node *port_table_value(nest *n, node *e)
{
  const node *value;
  int64_t at[4];
  int depth = 0;
  node *root = e, *cast;

  for (; root->kind == N_INDEX && depth < 4; root = root->a)
    if (!port_poly_is_number(port_poly_of(n, root->b), &at[depth++])) return NULL;
  if (root->kind != N_NAME || e->type > T_INTEGER || !port_is_table(n->unit, root->sym))
    return NULL;
  value = root->sym->init;
  while (depth-- > 0 && value)
    value = element_of_list(value, at[depth]);
  if (!value || value->kind == N_LIST) return NULL;
  cast = port_node(N_CAST, e);
  cast->type = e->type;
  cast->ctype = e->ctype;
  cast->a = port_copy_tree(value);
  if (cast->a->type == e->type) cast = cast->a;
  cast->next = NULL;
  return cast;
}

static bool changes(node *e, void *user)
{
  if (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--") || e->op[0] == '&'))
    return e->a->kind == N_NAME && e->a->sym == user;
  return e->kind == N_ASSIGN && e->a->kind == N_NAME && e->a->sym == user;
}

const node *port_constant(unit *u, symbol *s)
{
  if (s->is_asked || s->is_param || s->is_place || (s->type != T_F32 && s->type != T_F64))
    return s->constant;
  s->is_asked = true;
  if (!clang_isConstQualifiedType(s->ctype)) {
    if (clang_getCursorLinkage(s->cursor) == CXLinkage_External) return NULL;
    for (const function *f = u->functions; f; f = f->next)
      if (port_find(f->body, changes, s)) return NULL;
  }
  s->constant = port_initial_number(u, s);
  if (s->constant && strstr(s->constant->text, "n"))
    s->constant = NULL; /* infinite, or no number */
  return s->constant;
}

static bool compute(const char *op, int64_t a, int64_t b, int64_t *x)
{
  if (!strcmp(op, "+")) return *x = a + b, true;
  if (!strcmp(op, "-")) return *x = a - b, true;
  if (!strcmp(op, "*")) return *x = a * b, true;
  if (!strcmp(op, "/")) return b && (*x = a / b, true);
  if (!strcmp(op, "%")) return b && (*x = a % b, true);
  if (!strcmp(op, "<")) return *x = a < b, true;
  if (!strcmp(op, ">")) return *x = a > b, true;
  if (!strcmp(op, "<=")) return *x = a <= b, true;
  if (!strcmp(op, ">=")) return *x = a >= b, true;
  if (!strcmp(op, "==")) return *x = a == b, true;
  if (!strcmp(op, "!=")) return *x = a != b, true;
  if (!strcmp(op, "&&")) return *x = a && b, true;
  if (!strcmp(op, "||")) return *x = a || b, true;
  return false;
}

static bool is_small(int64_t x)
{
  return x > -1000000 && x < 1000000;
}

/* One expression whose parts are folded already; NULL: it stays. */
static node *folded(nest *n, node *e)
{
  const bool is_and = e->kind == N_BINARY && !strcmp(e->op, "&&"),
             is_or = e->kind == N_BINARY && !strcmp(e->op, "||");
  int64_t x = 0;

  if (e->kind == N_INDEX) return port_table_value(n, e);
  if (e->kind == N_CAST && e->type == T_I32 && e->a->is_constant && is_small(e->a->value))
    return port_number(e->a->value, e);
  if (e->kind == N_UNARY && e->a->is_constant && !e->op[1]) {
    if (e->op[0] == '-') return port_number(-e->a->value, e);
    if (e->op[0] == '!') return port_number(!e->a->value, e);
  }
  if (e->kind == N_COND && e->a->is_constant && (e->b->type == e->c->type))
    return e->a->value ? e->b : e->c;
  if ((is_and || is_or) && e->a->is_constant && (e->a->value != 0) == is_or)
    return port_number(is_or, e);
  if (e->kind == N_BINARY && e->type == T_I32 && e->a->is_constant && e->b->is_constant &&
      is_small(e->a->value) && is_small(e->b->value) &&
      compute(e->op, e->a->value, e->b->value, &x))
    return port_number(x, e);
  return NULL;
}

void port_fold(nest *n, node **at)
{
  node *e = *at, *to;

  if (!e) return;
  port_fold(n, &e->a);
  port_fold(n, &e->b);
  port_fold(n, &e->c);
  port_fold(n, &e->d);
  for (node **k = &e->list; *k; k = &(*k)->next)
    port_fold(n, k);
  if (e->kind == S_IF && e->a->is_constant) {
    to = e->a->value ? e->b : e->c;
    if (!to) to = port_node(S_NULL, e);
  } else if (e->kind >= S_DECL || e->is_constant || !(to = folded(n, e)))
    return;
  if (to->next) { /* a part of another list: its own copy */
    to = port_copy_tree(to);
  }
  to->next = e->next;
  *at = to;
}

/* ---- loops ---- */

static bool leaves(node *e, void *user)
{
  (void)user;
  return e->kind == S_BREAK || e->kind == S_CONTINUE || e->kind == S_RETURN;
}

static bool names(node *e, void *user)
{
  return e->kind == N_NAME && e->sym == user;
}

typedef struct table_use {
  unit *u;
  const symbol *var;
} table_use;

static bool indexes_table(node *e, void *user)
{
  const table_use *t = user;
  node *root = e;

  if (e->kind != N_INDEX || !port_find(e->b, names, (void *)(uintptr_t)t->var)) return false;
  while (root->kind == N_INDEX)
    root = root->a;
  return root->kind == N_NAME && port_is_table(t->u, root->sym);
}

static bool count_node(node *e, void *user)
{
  (void)e;
  ++*(int *)user;
  return true;
}

static bool is_loop(node *e, void *user)
{
  (void)user;
  return e->kind == S_FOR;
}

static bool is_unrollable(nest *n, node *f, loop *l)
{
  const char *why = n->why, *advice = n->advice;
  const node *fault = n->fault;
  bool ok = port_loop_header(n, f, l) && port_loop_is_short(l);

  n->why = why;
  n->advice = advice;
  n->fault = fault;
  if (l->is_down && l->from.n) return false;
  return ok && !port_find(f->d, changes, l->var) && !port_find(f->d, leaves, NULL);
}

static node *round_of(nest *n, const node *f, const loop *l, int64_t value)
{
  node *body = port_copy_tree(f->d), *to = port_number(value, f);

  if (l->from.n) {
    node *sum = port_node(N_BINARY, f);

    sum->op = "+";
    sum->a = l->first;
    sum->b = to;
    sum->type = l->var->type;
    sum->ctype = l->var->ctype;
    to = sum;
  }
  port_rename(&body, l->var, to);
  port_rename_locals(body);
  port_fold(n, &body);
  return body;
}

/* The statements of all rounds, in the place of the loop. */
static bool write_out(nest *n, node **at, const loop *l)
{
  node *f = *at, *first = NULL, **tail = &first;
  int64_t lo, hi;
  int size = 0;

  port_poly_is_number(l->lo, &lo);
  port_poly_is_number(l->hi, &hi);
  port_walk(f->d, count_node, &size);
  if (hi - lo > MOST_ROUNDS || size * (hi - lo) > budget) return false;
  budget -= size * (int)(hi - lo);
  for (int64_t i = 0; i < hi - lo; i += l->step) {
    node *body = round_of(n, f, l, l->is_down ? hi - 1 - i : lo + i);

    *tail = body->kind == S_BLOCK ? body->list : body;
    while (*tail)
      tail = &(*tail)->next;
  }
  if (!(f->a && f->a->kind == S_DECL) && !l->from.n && !port_is_private(n, l->var)) {
    /* the variable keeps its last value */
    node *s = port_node(S_EXPR, f), *e = s->a = port_node(N_ASSIGN, f);

    e->op = "=";
    e->a = port_copy_tree(f->c->a);
    e->b = port_number(l->is_down ? lo - 1 : lo + (hi - lo + l->step - 1) / l->step * l->step, f);
    e->type = e->a->type;
    *tail = s;
    tail = &s->next;
  }
  *tail = f->next;
  *at = first ? first : f->next;
  return true;
}

/* Layers of an edge, for (g = 0; g < 2; g++) u[1 - g][i] = u[2 + g][i], with another loop over
 * cells inside or around. */
static bool is_tiny(node *f, const loop *l, bool is_inside)
{
  int64_t lo, hi;

  return port_poly_is_number(l->lo, &lo) && port_poly_is_number(l->hi, &hi) && hi - lo <= TINY &&
         (is_inside || port_find(f->d, is_loop, NULL));
}

/* is_alone: the only statement of the loop around it, which is one over cells then. */
static bool unroll_list(nest *n, node **list, bool is_inside)
{
  const bool is_alone = *list && !(*list)->next;
  bool done = false;

  for (node **at = list; *at;) {
    node *s = *at;
    table_use t = {n->unit, NULL};
    loop l;

    if (s->kind == S_FOR && is_unrollable(n, s, &l)) {
      t.var = l.var;
      if (((is_inside && !is_alone) || port_find(s->d, indexes_table, &t) ||
           is_tiny(s, &l, is_inside) || l.var == n->over_planes) &&
          write_out(n, at, &l)) {
        done = true;
        continue;
      }
    }
    if (s->kind == S_FOR)
      done |=
          s->d->kind == S_BLOCK ? unroll_list(n, &s->d->list, true) : unroll_list(n, &s->d, true);
    else if (s->kind == S_BLOCK)
      done |= unroll_list(n, &s->list, is_inside);
    else if (s->kind == S_IF) {
      done |= unroll_list(n, &s->b, is_inside);
      if (s->c) done |= unroll_list(n, &s->c, is_inside);
    }
    at = &(*at)->next;
  }
  return done;
}

bool port_unroll(nest *n)
{
  node *block = port_node(S_BLOCK, n->copy);

  budget = MOST_NODES;
  if (!unroll_list(n, &n->copy, false) || !n->copy) return false;
  if (!n->copy->next) return true;
  block->list = n->copy; /* the outermost loop was one of them */
  n->copy = block;
  return true;
}
