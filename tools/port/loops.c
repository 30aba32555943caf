/* SPDX-License-Identifier: BSD-3-Clause */
/* loops.c - the header of a `for`, and whether it goes over cells.
 *
 * A loop over cells counts an integer from a to b, and its variable selects the element that is written.
 * Others are loops over time, which stay in the program, or short ones, which the kernel unrolls.
 */
#include "nest.h"

#include <string.h>

enum { SHORT_LOOP = 64 };

static bool is_integer(value_type t)
{
  return t == T_I32 || t == T_I64 || t == T_I16 || t == T_U8 || t == T_INTEGER;
}

/* i = lo: the variable and its first value. */
static bool loop_start(node *init, symbol **var, node **first)
{
  if (init && init->kind == S_DECL && init->list && !init->list->next && init->list->a) {
    *var = init->list->sym;
    *first = init->list->a;
    return is_integer((*var)->type);
  }
  if (init && init->kind == S_EXPR) init = init->a;
  if (init && init->kind == N_ASSIGN && !strcmp(init->op, "=") && init->a->kind == N_NAME) {
    *var = init->a->sym;
    *first = init->b;
    return is_integer((*var)->type);
  }
  return false;
}

static bool loop_step(node *inc, const symbol *var, int64_t *by)
{
  if (!inc) return false;
  if (inc->kind == N_UNARY && inc->a->kind == N_NAME && inc->a->sym == var) {
    *by = strstr(inc->op, "++") ? 1 : strstr(inc->op, "--") ? -1 : 0;
    return *by != 0;
  }
  if (inc->kind != N_ASSIGN || inc->a->kind != N_NAME || inc->a->sym != var) return false;
  if (inc->b->is_constant && !strcmp(inc->op, "+="))
    *by = inc->b->value;
  else if (inc->b->is_constant && !strcmp(inc->op, "-="))
    *by = -inc->b->value;
  else if (!strcmp(inc->op, "=") && inc->b->kind == N_BINARY && inc->b->a->kind == N_NAME &&
           inc->b->a->sym == var && inc->b->b->is_constant && strchr("+-", inc->b->op[0]))
    *by = inc->b->op[0] == '+' ? inc->b->b->value : -inc->b->b->value;
  else
    return false;
  return *by != 0;
}

/* Without variables of loops. */
static bool is_steady(const nest *n, poly p)
{
  for (int k = 0; k < n->nloops; k++)
    if (port_poly_has(p, n->loops[k].atom)) return false;
  for (int k = 0; k < n->ninner; k++)
    if (port_poly_has(p, n->inner[k].atom)) return false;
  for (int k = 0; k < n->nguards; k++)
    if (port_poly_has(p, n->guards[k].atom)) return false;
  return !p.is_bad;
}

bool port_loop_header(nest *n, node *f, loop *l)
{
  static const char *const advice = "write it as for (i = a; i < b; i++)";
  node *first, *limit;
  const char *op;
  poly from, to;
  int64_t by;

  memset(l, 0, sizeof *l);
  l->node = f;
  if (!loop_start(f->a, &l->var, &first) || !f->b || f->b->kind != N_BINARY ||
      !loop_step(f->c, l->var, &by))
    return port_refuse(n, f, "the loop does not count an integer from a to b", advice);
  op = f->b->op;
  limit = f->b->b;
  if (port_bare(f->b->a)->kind != N_NAME || port_bare(f->b->a)->sym != l->var) {
    if (port_bare(limit)->kind != N_NAME || port_bare(limit)->sym != l->var)
      return port_refuse(n, f->b, "the condition does not compare the loop variable", advice);
    limit = f->b->a;
    op = !strcmp(op, "<")    ? ">"
         : !strcmp(op, ">")  ? "<"
         : !strcmp(op, "<=") ? ">="
         : !strcmp(op, ">=") ? "<="
                             : op;
  }
  from = port_poly_of(n, first);
  to = port_poly_of(n, limit);
  if (!is_steady(n, from) || !is_steady(n, to))
    return port_refuse(n, is_steady(n, to) ? first : limit,
                       "a bound of the loop changes inside the nest",
                       "bounds must be the same for all cells: a box");
  l->is_down = by < 0;
  l->step = by < 0 ? -by : by;
  if (!l->is_down && (!strcmp(op, "<") || (!strcmp(op, "!=") && by == 1)))
    l->lo = from, l->hi = to;
  else if (!l->is_down && !strcmp(op, "<="))
    l->lo = from, l->hi = port_poly_add(to, port_poly_number(1));
  else if (l->is_down && !strcmp(op, ">="))
    l->lo = to, l->hi = port_poly_add(from, port_poly_number(1));
  else if (l->is_down && !strcmp(op, ">"))
    l->lo = port_poly_add(to, port_poly_number(1)),
    l->hi = port_poly_add(from, port_poly_number(1));
  else
    return port_refuse(n, f->b, "the condition does not bound the loop", advice);
  l->atom = port_atom_of(l->var);
  return true;
}

/* Whether the loop runs a few times only, a number known here. */
bool port_loop_is_short(const loop *l)
{
  int64_t lo, hi;

  return port_poly_is_number(l->lo, &lo) && port_poly_is_number(l->hi, &hi) &&
         hi - lo <= SHORT_LOOP;
}

typedef struct subscript_search {
  const symbol *var;
  bool in_write, in_read;
} subscript_search;

/* Not below %: [t % 2] chooses an array, not a cell. */
static bool names_symbol(node *e, void *user)
{
  return e->kind == N_NAME && e->sym == ((subscript_search *)user)->var;
}

static bool selects(node *e, const subscript_search *s)
{
  if (!e || (e->kind == N_BINARY && !strcmp(e->op, "%"))) return false;
  if (e->kind == N_NAME) return e->sym == s->var;
  if (selects(e->a, s) || selects(e->b, s) || selects(e->c, s)) return true;
  for (node *k = e->list; k; k = k->next)
    if (selects(k, s)) return true;
  return false;
}

/* Whether the variable, or one computed from it, stands in subscripts of what is written or read. */
static bool look_for_subscripts(node *e, void *user)
{
  subscript_search *s = user;

  if (e->kind == N_ASSIGN && e->a->kind != N_NAME && selects(e->a, s)) s->in_write = true;
  if (e->kind == N_INDEX && port_find(e->b, names_symbol, s)) s->in_read = true;
  if (e->kind == N_UNARY && e->op[0] == '*' && port_find(e->a, names_symbol, s)) s->in_read = true;
  return true;
}

static bool writes_elements(node *e, void *user)
{
  (void)user;
  return e->kind == N_ASSIGN && e->a->kind != N_NAME;
}

static void search(node *body, const symbol *var, subscript_search *s, int depth);

static bool follow_temporaries(node *e, void *user)
{
  struct {
    node *body;
    subscript_search *s;
    int depth;
  } *f = user;
  const symbol *made = NULL;
  node *from = NULL;

  if (e->kind == N_DECL && e->a) made = e->sym, from = e->a;
  if (e->kind == N_ASSIGN && e->a->kind == N_NAME) made = e->a->sym, from = e->b;
  if (made && made != f->s->var && (is_integer(made->type) || made->type == T_POINTER) &&
      port_find(from, names_symbol, f->s)) {
    subscript_search inner = {made, false, false};

    search(f->body, made, &inner, f->depth + 1);
    f->s->in_write |= inner.in_write;
    f->s->in_read |= inner.in_read;
  }
  return true;
}

static void search(node *body, const symbol *var, subscript_search *s, int depth)
{
  struct {
    node *body;
    subscript_search *s;
    int depth;
  } f = {body, s, depth};

  s->var = var;
  port_walk(body, look_for_subscripts, s);
  if (depth < 4) port_walk(body, follow_temporaries, &f);
}

static bool declares(node *e, void *user)
{
  return e->kind == N_DECL && e->sym == user;
}

typedef struct collects {
  nest *n;
  node *body;
} collects;

/* An assignment to a variable of the kernel that lives longer than one round of the loop. */
static bool is_collecting(node *e, void *user)
{
  const collects *c = user;

  return e->kind == N_ASSIGN && e->a->kind == N_NAME && port_nest_is_local(c->n, e->a->sym) &&
         !port_find(c->body, declares, e->a->sym);
}

/* A loop over cells: its variable selects the element that is written, or, where nothing is, read. A
 * short one that collects something for a cell is part of the kernel. */
bool port_loop_is_cells(nest *n, node *f, const loop *l)
{
  subscript_search s = {l->var, false, false};
  collects c = {n, f->d};

  search(f->d, l->var, &s, 0);
  if (port_find(f->d, writes_elements, NULL)) return s.in_write;
  return s.in_read && !(port_loop_is_short(l) && port_find(f->d, is_collecting, &c));
}

/* ---- continue ---- */

static bool is_continue(node *e, void *user)
{
  (void)user;
  return e->kind == S_CONTINUE;
}

static node *listed(node *s)
{
  return !s ? NULL : s->kind == S_BLOCK ? s->list : s;
}

static node *block_of(node *list, const node *like)
{
  node *b = port_node(S_BLOCK, like);

  b->list = list;
  return b;
}

/* if (c) { ...; continue; } rest: becomes if (c) { ... } else { rest }. */
static void without_continue(node *list)
{
  for (node *s = list; s; s = s->next) {
    node *yes = listed(s->b), **last = &yes, *no;

    if (s->kind != S_IF || !port_find(s->b, is_continue, NULL)) continue;
    while (*last && (*last)->next)
      last = &(*last)->next;
    if (!*last || (*last)->kind != S_CONTINUE) return;
    *last = NULL;
    no = listed(s->c);
    for (last = &no; *last;)
      last = &(*last)->next;
    *last = s->next;
    s->next = NULL;
    s->b = block_of(yes, s);
    s->c = no ? block_of(no, s) : NULL;
    without_continue(no);
    return;
  }
}

static bool replace_continue(node *e, void *user)
{
  (void)user;
  if (e->kind == S_FOR) without_continue(listed(e->d));
  return true;
}

void port_loop_continue(node *n)
{
  port_walk(n, replace_continue, NULL);
}
