/* SPDX-License-Identifier: BSD-3-Clause */
/* until.c - loops that end when a result of a nest is small.
 *
 *   while (err > tol && iter < most) {
 *     err = 0; nest with err = max(...); swaps; other nests; iter++; }
 *   for (iter = 0; iter < most; iter++) { ...; if (err < tol) break; }
 *
 * If nothing else is in the loop, nobody on the host needs the result but the loop itself. A call
 * at the start of each round tells the support code the rule, the limit and the number of rounds
 * that are left; it runs the rest of them in one go (support/ahead.c).
 */
#include "edit.h"

#include <string.h>

typedef struct until {
  const symbol *result;
  const node *loop;
  const char *tol, *left; /* C text */
  bool is_strict;         /* it ends below tol, else at it, too */
} until;

static bool names(node *e, void *user)
{
  return e->kind == N_NAME && e->sym == user;
}

static bool is_name(const node *e, const symbol *s)
{
  return e && e->kind == N_NAME && e->sym == s;
}

static bool gives_value(node *e, void *user)
{
  if (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--") || e->op[0] == '&'))
    return is_name(e->a, user);
  return (e->kind == N_DECL && e->sym == user) || (e->kind == N_ASSIGN && is_name(e->a, user));
}

/* Something that host code would have to be there for. */
static bool needs_host(node *e, void *user)
{
  (void)user;
  return e->kind == N_CALL || e->kind == N_INDEX || e->kind == N_OPAQUE || e->kind == N_LIST ||
         (e->kind == N_UNARY && e->op[0] == '*');
}

static bool changes_in(node *e, void *user)
{
  return e->kind == N_NAME && port_find(user, gives_value, e->sym);
}

/* Whether e is the same number in all rounds. */
static bool is_steady(const until *t, const node *e)
{
  node *copy = (node *)(uintptr_t)e;

  return !port_find(copy, needs_host, NULL) &&
         !port_find(copy, changes_in, (void *)(uintptr_t)t->loop);
}

/* ---- conditions ---- */

/* err OP tol, whichever way round; false: something else. */
static bool compares_result(until *t, const node *c, const char **op)
{
  const bool is_left = c->kind == N_BINARY && is_name(c->a, t->result);

  if (c->kind != N_BINARY || (!is_left && !is_name(c->b, t->result))) return false;
  if (!is_steady(t, is_left ? c->b : c->a) || t->tol) return false;
  *op = is_left ? c->op : port_mirrored(c->op);
  t->tol = port_print(is_left ? c->b : c->a);
  return true;
}

static int count_steps(const node *n, const symbol *s)
{
  int count = 0;

  if (!n) return 0;
  if (n->kind == N_UNARY && strstr(n->op, "++") && is_name(n->a, s)) return 1;
  if (gives_value((node *)(uintptr_t)n, (void *)(uintptr_t)s)) return 2;
  count = count_steps(n->a, s) + count_steps(n->b, s) + count_steps(n->c, s) + count_steps(n->d, s);
  for (const node *k = n->list; k; k = k->next)
    count += count_steps(k, s);
  return count;
}

/* iter < most, where each round adds 1. */
static bool counts_rounds(until *t, const node *c)
{
  const node *name = c->kind == N_BINARY ? c->a : NULL, *limit = c->kind == N_BINARY ? c->b : NULL;
  const bool is_step = name && name->kind == N_UNARY && !strcmp(name->op, "++");

  if (is_step) name = name->a;
  if (!name || name->kind != N_NAME || t->left || (strcmp(c->op, "<") && strcmp(c->op, "<=")) ||
      (is_step && t->loop->kind != S_DO) || !port_is_integer(name->sym->type) ||
      !is_steady(t, limit))
    return false;
  if (count_steps(t->loop->d, name->sym) + count_steps(t->loop->c, name->sym) +
          count_steps(t->loop->a, name->sym) * (t->loop->kind != S_FOR) !=
      1)
    return false;
  t->left =
      port_text("(int64_t)(%s) - %s%s", port_print(limit), name->sym->name, c->op[1] ? " + 1" : "");
  return true;
}

/* The loop goes on while all of these hold. */
static bool read_condition(until *t, const node *c)
{
  const char *op;

  if (!c) return true;
  if (c->kind == N_BINARY && !strcmp(c->op, "&&"))
    return read_condition(t, c->a) && read_condition(t, c->b);
  if (c->is_constant) return c->value != 0;
  if (!compares_result(t, c, &op)) return counts_rounds(t, c);
  t->is_strict = !strcmp(op, ">=");
  return t->is_strict || !strcmp(op, ">");
}

/* if (err < tol) break; */
static bool reads_break(until *t, const node *s)
{
  const node *then = s->b && s->b->kind == S_BLOCK ? s->b->list : s->b;
  const char *op;

  if (s->c || !then || then->kind != S_BREAK || then->next || !compares_result(t, s->a, &op))
    return false;
  t->is_strict = !strcmp(op, "<");
  return t->is_strict || !strcmp(op, "<=");
}

/* ---- the body ---- */

static bool is_plain_function(const function *f);

static bool is_plain(until *t, const node *s, const node *nest_node)
{
  const node *e = s->a;

  switch (s->kind) {
  case S_NULL: return true;
  case S_BLOCK:
    for (const node *k = s->list; k; k = k->next)
      if (!is_plain(t, k, nest_node)) return false;
    return true;
  case S_FOR:
    return s == nest_node || (port_host_is_quiet(s) && !port_find((node *)(uintptr_t)s, names,
                                                                  (void *)(uintptr_t)t->result));
  case S_DECL:
    for (const node *d = s->list; d; d = d->next)
      if (d->a && port_find(d->a, needs_host, NULL)) return false;
    return true;
  case S_IF: return reads_break(t, s);
  case S_EXPR:
    if (e->kind == N_CALL) {
      for (node *k = e->list; k; k = k->next)
        if (port_find(k, needs_host, NULL) || port_find(k, names, (void *)(uintptr_t)t->result))
          return false;
      return e->callee && is_plain_function(port_real(e->callee));
    }
    if (e->kind == N_ASSIGN && is_name(e->a, t->result))
      return !strcmp(e->op, "=") && e->b->kind == N_NUMBER;
    return (e->kind == N_ASSIGN || e->kind == N_UNARY) && e->a->kind == N_NAME &&
           !port_find((node *)(uintptr_t)s, needs_host, NULL) &&
           !port_find((node *)(uintptr_t)s, names, (void *)(uintptr_t)t->result);
  default: return false;
  }
}

/* Only nests that were translated, without results. */
static bool is_plain_function(const function *f)
{
  until none = {.result = NULL};

  return f->body && is_plain(&none, f->body, NULL);
}

static bool find_loop(node *e, void *user)
{
  const node *nest_node = user;

  if ((e->kind != S_FOR && e->kind != S_WHILE && e->kind != S_DO) || !e->d || e->d->kind != S_BLOCK)
    return false;
  for (const node *k = e->d->list; k; k = k->next)
    if (k == nest_node) return true;
  return false;
}

/* Whether a loop stands in a block, where a statement may stand before it. */
static bool has_in_list(node *e, void *user)
{
  for (const node *k = e->kind == S_BLOCK ? e->list : NULL; k; k = k->next)
    if (k == user) return true;
  return false;
}

static const param *only_result(const step *steps, const step **in)
{
  const param *found = NULL;

  for (const step *s = steps; s; s = s->next)
    for (int i = 0; i < s->nparams; i++) {
      if (!s->params[i].reduction) continue;
      if (s->params[i].reduction->c) return NULL; /* a flag */
      if (found || (s->params[i].kind != P_MAX && s->params[i].kind != P_SUM) ||
          s->params[i].reduction->a->sym->is_place)
        return NULL;
      found = &s->params[i];
      *in = s;
    }
  return found;
}

bool port_until(const function *f, const nest *n, const step *steps, bool marks)
{
  const step *s = NULL;
  const param *p = only_result(steps, &s);
  until t = {.result = p ? p->reduction->a->sym : NULL};
  const char *call;

  t.loop = p ? port_find(f->body, find_loop, n->node) : NULL;
  if (!t.loop || !t.loop->d->begin || !port_find(f->body, has_in_list, (void *)(uintptr_t)t.loop) ||
      t.loop->is_macro || !read_condition(&t, t.loop->kind == S_FOR ? t.loop->b : t.loop->a) ||
      !is_plain(&t, t.loop->d, n->node) || !t.tol)
    return false;
  if (!marks) return true;
  call = port_text("port_ahead(&port_%s, %d, (double)(%s), %d, %s);", s->name, port_emit_slot(s, p),
                   t.tol, t.is_strict, t.left ? t.left : "INT64_MAX");
  port_edit(t.loop->begin, 0, "port_ahead(NULL, 0, 0, 0, 0); ");
  port_edit(t.loop->d->begin + 1, 0, port_text(" %s", call));
  return true;
}
