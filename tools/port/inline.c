/* SPDX-License-Identifier: BSD-3-Clause */
/* inline.c - puts the bodies of called functions in the place of calls.
 *
 * A function that is one expression is substituted: IDX(i, j) as a function costs nothing. Any
 * other becomes statements before the one that calls it: its parameters are declared with their
 * arguments, its variables are new ones for each call, `return` assigns the result.
 */
#include "nest.h"

#include <string.h>

enum { DEEPEST = 12, RENAMED = 256 };

typedef struct renaming {
  const symbol *from[RENAMED];
  node *to[RENAMED]; /* its replacement */
  int n;
} renaming;

static bool expand_list(nest *n, node **list);

/* ---- substitution ---- */

static node *replacement(const renaming *r, const symbol *s)
{
  for (int i = 0; i < r->n; i++)
    if (r->from[i] == s) return r->to[i];
  return NULL;
}

static void rename_below(node **at, const renaming *r)
{
  node *e = *at, *to;

  if (!e) return;
  if (e->kind == N_NAME && (to = replacement(r, e->sym))) {
    node *copy = port_copy_tree(to);

    copy->next = e->next;
    *at = copy;
    return;
  }
  if (e->kind == N_DECL && (to = replacement(r, e->sym))) e->sym = to->sym;
  rename_below(&e->a, r);
  rename_below(&e->b, r);
  rename_below(&e->c, r);
  rename_below(&e->d, r);
  for (node **k = &e->list; *k; k = &(*k)->next)
    rename_below(k, r);
}

void port_rename(node **at, const symbol *from, node *to)
{
  const renaming r = {.from = {from}, .to = {to}, .n = 1};

  rename_below(at, &r);
}

static symbol *fresh(const symbol *s)
{
  symbol *copy = port_new(sizeof *copy);

  *copy = *s;
  copy->is_param = copy->is_global = false;
  copy->next = NULL;
  return copy;
}

static bool is_number(value_type t)
{
  return t <= T_INTEGER;
}

/* An argument, converted to the type of the parameter. */
static node *converted(node *arg, const symbol *to)
{
  node *cast;

  if (!is_number(to->type) || arg->type == to->type) return arg;
  cast = port_node(N_CAST, arg);
  cast->a = arg;
  cast->type = to->type;
  cast->ctype = to->ctype;
  return cast;
}

/* ---- functions that are one expression ---- */

static node *only_expression(const function *f)
{
  const node *s = f->body ? f->body->list : NULL;

  return s && !s->next && s->kind == S_RETURN ? s->a : NULL;
}

static bool has_effect(node *e, void *user)
{
  (void)user;
  return e->kind == N_ASSIGN ||
         (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--")));
}

static node *substitute(const node *call, const node *expression)
{
  renaming r = {.n = 0};
  node *copy = port_copy_tree(expression), *arg = call->list;
  symbol result = {.type = call->type, .ctype = call->ctype};

  for (int i = 0; i < call->callee->nparams && arg; i++, arg = arg->next) {
    r.from[r.n] = call->callee->params[i];
    r.to[r.n++] = converted(arg, call->callee->params[i]);
  }
  rename_below(&copy, &r);
  copy = is_number(call->type) ? converted(copy, &result) : copy;
  copy->line = call->line;
  copy->column = call->column;
  copy->begin = call->begin;
  copy->end = call->end;
  return copy;
}

/* ---- functions of several statements ---- */

static bool returns(node *e, void *user)
{
  (void)user;
  return e->kind == S_RETURN;
}

/* Whether every way through the list ends with a return. */
static bool always_returns(const node *list)
{
  for (const node *s = list; s; s = s->next) {
    if (s->kind == S_RETURN) return true;
    if (s->kind == S_BLOCK && always_returns(s->list)) return true;
    if (s->kind == S_IF && s->c && always_returns(s->b->kind == S_BLOCK ? s->b->list : s->b) &&
        always_returns(s->c->kind == S_BLOCK ? s->c->list : s->c))
      return true;
  }
  return false;
}

static node *listed(node *s)
{
  return !s ? NULL : s->kind == S_BLOCK ? s->list : s;
}

static node *chain(node *a, node *b)
{
  node *head = a, **tail = &head;

  while (*tail)
    tail = &(*tail)->next;
  *tail = b;
  return head;
}

static node *block_of(node *list, const node *like)
{
  node *b = port_node(S_BLOCK, like);

  b->list = list;
  return b;
}

/* Replaces returns by assignments to the result; false: a return leaves a loop. */
static bool without_returns(node **list, symbol *result)
{
  for (node **at = list; *at; at = &(*at)->next) {
    node *s = *at;

    if (!port_find(s, returns, NULL)) continue;
    if (s->kind == S_BLOCK) { /* join it to the list */
      *at = chain(s->list, s->next);
      return without_returns(at, result);
    }
    if (s->kind == S_RETURN) {
      node *e = port_node(S_EXPR, s);

      if (!s->a || !result) {
        *at = NULL;
        return true;
      }
      e->a = port_node(N_ASSIGN, s);
      e->a->op = "=";
      e->a->a = port_name(result, s);
      e->a->b = s->a;
      e->a->type = result->type;
      *at = e;
      e->next = NULL;
      return true;
    }
    if (s->kind != S_IF) return false;
    {
      node *yes = listed(s->b), *no = listed(s->c), *rest = s->next;

      if (always_returns(yes))
        no = chain(no, rest);
      else if (no && always_returns(no))
        yes = chain(yes, rest);
      else
        return false;
      s->next = NULL;
      if (!without_returns(&yes, result) || !without_returns(&no, result)) return false;
      s->b = block_of(yes, s);
      s->c = no ? block_of(no, s) : NULL;
      return true;
    }
  }
  return true;
}

static bool note_locals(node *e, void *user)
{
  renaming *r = user;

  if (e->kind == N_DECL && r->n < RENAMED) {
    r->from[r->n] = e->sym;
    r->to[r->n++] = port_name(fresh(e->sym), e);
  }
  return true;
}

void port_rename_locals(node *n)
{
  renaming r = {.n = 0};

  port_walk(n, note_locals, &r);
  rename_below(&n, &r);
}

static bool is_static(node *e, void *user)
{
  (void)user;
  return e->kind == N_DECL && e->sym->is_global;
}

/* The statements of a call, and the variable that has its result (NULL: void). */
static bool unfold(nest *n, node *call, node **out, symbol **result)
{
  function *f = call->callee;
  node *body = port_copy_tree(f->body), *head = NULL, **tail = &head, *arg = call->list;
  renaming r = {.n = 0};

  if (port_find(body, is_static, NULL))
    return port_refuse(n, call, port_text("'%s' has a static variable", f->name), NULL);
  *result = NULL;
  if (call->type != T_VOID) {
    *result = port_new(sizeof **result);
    (*result)->name = port_text("%s_result", f->name);
    (*result)->type = call->type;
    (*result)->ctype = clang_getCanonicalType(call->ctype);
  }
  for (int i = 0; i < f->nparams && arg; i++, arg = arg->next) {
    node *s = port_node(S_DECL, call), *d = port_node(N_DECL, call);

    r.from[r.n] = f->params[i];
    d->sym = fresh(f->params[i]);
    if (d->sym->type == T_ARRAY) d->sym->type = T_POINTER;
    d->type = d->sym->type;
    d->ctype = d->sym->ctype;
    d->text = d->sym->name;
    d->a = port_copy_tree(arg);
    s->list = d;
    r.to[r.n++] = port_name(d->sym, call);
    *tail = s;
    tail = &s->next;
  }
  port_switches(&body);
  port_walk(body, note_locals, &r);
  rename_below(&body, &r);
  if (!without_returns(&body->list, *result))
    return port_refuse(n, call, port_text("'%s' returns from inside a loop", f->name), NULL);
  if (*result) {
    node *s = port_node(S_DECL, call);

    s->list = port_node(N_DECL, call);
    s->list->sym = *result;
    s->list->type = (*result)->type;
    s->list->ctype = (*result)->ctype;
    *tail = s;
    tail = &s->next;
  }
  *tail = body->list;
  if (f->depth == DEEPEST)
    return port_refuse(n, call, port_text("'%s' calls itself", f->name), NULL);
  f->depth++;
  if (!expand_list(n, &head)) return false;
  f->depth--;
  *out = head;
  return true;
}

/* ---- calls in expressions ---- */

/* Replaces calls below *at; statements that must run first are appended to *before. */
static bool expand_calls(nest *n, node **at, node ***before)
{
  node *e = *at, *list, *name;
  symbol *result;

  if (!e) return true;
  if (!expand_calls(n, &e->a, before) || !expand_calls(n, &e->b, before) ||
      !expand_calls(n, &e->c, before) || !expand_calls(n, &e->d, before))
    return false;
  for (node **k = &e->list; *k; k = &(*k)->next)
    if (!expand_calls(n, k, before)) return false;
  if (e->kind != N_CALL || !e->callee || !e->callee->body) return true;
  if (only_expression(e->callee) && !port_find(only_expression(e->callee), has_effect, NULL)) {
    name = substitute(e, only_expression(e->callee));
    name->next = e->next;
    if (e->callee->depth == DEEPEST)
      return port_refuse(n, e, port_text("'%s' calls itself", e->callee->name), NULL);
    e->callee->depth++;
    if (!expand_calls(n, &name, before)) return false;
    e->callee->depth--;
    *at = name;
    return true;
  }
  if (!unfold(n, e, &list, &result)) return false;
  **before = list;
  while (**before)
    *before = &(**before)->next;
  if (!result) { /* a statement of its own: nothing is left of it */
    name = port_number(0, e);
  } else
    name = port_name(result, e);
  name->next = e->next;
  *at = name;
  return true;
}

static bool expand_body(nest *n, node **body)
{
  if (!*body) return true;
  if ((*body)->kind == S_BLOCK) return expand_list(n, &(*body)->list);
  *body = block_of(*body, *body);
  return expand_list(n, &(*body)->list);
}

static bool expand_list(nest *n, node **list)
{
  for (node **at = list; *at;) {
    node *s = *at, *first = NULL, **tail = &first;
    bool ok = true;

    switch (s->kind) {
    case S_EXPR:
    case S_RETURN: ok = expand_calls(n, &s->a, &tail); break;
    case S_DECL:
      for (node *d = s->list; d && ok; d = d->next)
        ok = expand_calls(n, &d->a, &tail);
      break;
    case S_IF:
      ok = expand_calls(n, &s->a, &tail) && expand_body(n, &s->b) && expand_body(n, &s->c);
      break;
    case S_FOR:
      ok = expand_calls(n, &s->a, &tail) && expand_calls(n, &s->b, &tail) && expand_body(n, &s->d);
      break;
    case S_BLOCK: ok = expand_list(n, &s->list); break;
    default: break;
    }
    if (!ok) return false;
    *tail = s;
    *at = first;
    at = &s->next;
  }
  return true;
}

bool port_inline(nest *n)
{
  port_switches(&n->copy);
  return expand_list(n, &n->copy);
}
