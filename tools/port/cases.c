/* SPDX-License-Identifier: BSD-3-Clause */
/* cases.c - nests whose form depends on a small integer that is known at run time.
 *
 *   for (k = 1; k <= depth; k++) u[1 - k][i] = u[k][i];              layers of an edge
 *   for (a = -r; a <= r; a++) s += u[i + a];                         a window
 *   for (k = 1; k <= r; k++) s += c[k] * (u[i - k] + u[i + k]);
 *
 * Such a nest is translated once for each of the first few values of the integer, as if that number
 * stood in the headers of these loops. The program chooses when it runs.
 *
 *   if (s > 0) x += a[s] * k[s - 1][i][j];                           a stage before this one
 *
 * Here there is no array k[s - 1] if s is 0. Such a nest is translated twice, as if the condition
 * always held and as if it never did.
 */
#include "nest.h"

#include <string.h>

enum { MOST_LAYERS = 3, MOST_RADIUS = 8 };

static bool names(node *e, void *user)
{
  return e->kind == N_NAME && e->sym == user;
}

static bool gives_value(node *e, void *user)
{
  if (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--") || e->op[0] == '&'))
    return names(e->a, user);
  return (e->kind == N_DECL && e->sym == user) || (e->kind == N_ASSIGN && names(e->a, user));
}

static bool declares(node *e, void *user)
{
  return e->kind == N_DECL && e->sym == user;
}

static bool changes(node *e, void *user)
{
  return e->kind != N_DECL && gives_value(e, user);
}

/* A parameter of a function that was inlined is the variable that it was called with. */
static symbol *outer(const nest *n, symbol *s)
{
  const node *d;

  while (s && (d = port_find(n->copy, declares, s)) && d->a && !port_find(n->copy, changes, s) &&
         port_bare(d->a)->kind == N_NAME)
    s = port_bare(d->a)->sym;
  return s;
}

/* Something minus the variable. */
static bool is_subtracted(node *e, void *user)
{
  if (e->kind == N_UNARY && !strcmp(e->op, "-")) return port_find(e->a, names, user);
  return e->kind == N_BINARY && !strcmp(e->op, "-") && port_find(e->b, names, user);
}

static bool is_in_subscript(node *e, void *user)
{
  return e->kind == N_INDEX && port_find(e->b, names, user);
}

/* The loop runs as often as factor * integer, and a number, say; NULL: it does not. */
static symbol *length_of(nest *n, node *f, symbol **var, int64_t *factor)
{
  node *init = f->a && f->a->kind == S_EXPR ? f->a->a : f->a, *first = NULL;
  poly length;

  if (init && init->kind == S_DECL && init->list && !init->list->next) {
    *var = init->list->sym;
    first = init->list->a;
  } else if (init && init->kind == N_ASSIGN && init->a->kind == N_NAME) {
    *var = init->a->sym;
    first = init->b;
  }
  if (!first || !f->b || f->b->kind != N_BINARY || !names(port_bare(f->b->a), *var) ||
      f->b->op[0] != '<')
    return NULL;
  length = port_poly_sub(port_poly_of(n, f->b->b), port_poly_of(n, first));
  if (length.is_bad || length.n < 1 || length.n > 2 || length.terms[0].degree != 1 ||
      (length.n == 2 && length.terms[1].degree))
    return NULL;
  *factor = length.terms[0].factor;
  return (symbol *)(uintptr_t)port_atom_symbol(length.terms[0].atoms[0]);
}

/* An element that the variable selects. */
static bool writes_there(node *e, void *user)
{
  return e->kind == N_ASSIGN && e->a->kind != N_NAME && port_find(e->a, names, user);
}

typedef struct search {
  nest *n;
  symbol *found;
  int most; /* its largest value */
} search;

static bool look_at_loop(node *e, void *user)
{
  search *s = user;
  symbol *var = NULL, *length;
  int64_t factor;

  if (e->kind != S_FOR || !(length = outer(s->n, length_of(s->n, e, &var, &factor))) ||
      length->is_place || port_find(s->n->copy, gives_value, length))
    return false;
  if (factor != 2 && (factor != 1 || !port_find(e->d, is_subtracted, var) ||
                      port_find(s->n->copy, is_in_subscript, length)))
    return false;
  s->found = length;
  s->most = port_find(e->d, writes_there, var) ? MOST_LAYERS : MOST_RADIUS;
  return true;
}

symbol *port_case_find(nest *n, int *most)
{
  search s = {.n = n};

  if (port_nest_copy(n)) port_find(n->copy, look_at_loop, &s);
  *most = s.most;
  return s.found;
}

/* ---- conditions ---- */

/* A comparison of a variable that the nest does not change with a number, or the variable alone. */
static symbol *tested(const nest *n, const node *e)
{
  const bool compares = e->kind == N_BINARY && strchr("<>=!", e->op[0]) && e->op[1] != e->op[0];
  node *a = port_bare(compares || e->kind == N_UNARY ? e->a : (node *)(uintptr_t)e);
  symbol *s;

  if ((e->kind == N_BINARY && (!compares || port_bare(e->b)->kind != N_NUMBER)) ||
      (e->kind == N_UNARY && strcmp(e->op, "!")) || a->kind != N_NAME || a->type > T_INTEGER)
    return NULL;
  s = outer(n, a->sym);
  return s->is_place || port_find(n->copy, gives_value, s) ? NULL : s;
}

static bool selects(node *e, void *user)
{
  const nest *n = ((search *)user)->n;

  if (e->kind == N_NAME && outer(n, e->sym) == ((search *)user)->found) return true;
  return false;
}

static bool is_selected(node *e, void *user)
{
  return e->kind == N_INDEX && port_find(e->b, selects, user);
}

/* Whether the variable selects a plane of an array, or a number that all cells share. */
static bool is_plane(const search *s)
{
  for (int i = 0; i < s->n->naccesses; i++) {
    const access *a = s->n->accesses[i];

    for (int l = 0; l < a->nsubs && !a->is_table; l++)
      if ((a->is_value || !a->array->is_axis[l]) && !a->subs[l].is_bad &&
          port_poly_has(a->subs[l], port_atom_of(s->found)))
        return true;
  }
  return false;
}

/* Such a condition, with elements behind it that the variable selects. */
static bool guards_plane(node *e, void *user)
{
  search *s = user;

  if ((e->kind != S_IF && e->kind != N_COND) || !(s->found = tested(s->n, e->a))) return false;
  return (port_find(e->b, is_selected, s) || (e->c && port_find(e->c, is_selected, s))) &&
         is_plane(s);
}

symbol *port_case_condition(nest *n, const node **condition)
{
  search s = {.n = n};
  const node *at = n->copy ? port_find(n->whole ? n->whole : n->copy, guards_plane, &s) : NULL;

  *condition = at ? at->a : NULL;
  return at ? s.found : NULL;
}

static bool fix_condition(node *e, void *user)
{
  nest *n = user;
  const node *c = n->condition;

  if ((e->kind != S_IF && e->kind != N_COND) || e->a->kind != c->kind ||
      tested(n, e->a) != n->fixed || (c->kind != N_NAME && strcmp(e->a->op, c->op)) ||
      (c->kind == N_BINARY && strcmp(port_print(e->a->b), port_print(c->b))))
    return true;
  e->a = port_number(n->fixed_to == 1, e->a);
  return true;
}

static bool fix_header(node *e, void *user)
{
  nest *n = user;
  int64_t factor;
  symbol *var = NULL, *length = e->kind == S_FOR ? length_of(n, e, &var, &factor) : NULL;

  if (length && outer(n, length) == n->fixed) {
    port_rename(&e->a, length, port_number(n->fixed_to, e));
    port_rename(&e->b, length, port_number(n->fixed_to, e));
  }
  return true;
}

void port_case_fix(nest *n)
{
  port_walk(n->copy, n->condition ? fix_condition : fix_header, n);
  if (n->condition) port_fold(n, &n->copy);
}
