/* SPDX-License-Identifier: BSD-3-Clause */
/* loops.c - the header of a `for`, and whether it goes over cells.
 *
 * A loop over cells counts an integer from a to b, and its variable selects the element that is
 * written. Others are loops over time, which stay in the program, or short ones, which the kernel
 * unrolls.
 */
#include "walk.h"

#include <string.h>

enum { SHORT_LOOP = 64 };

/* i = lo: the variable and its first value. */
static bool loop_start(node *init, symbol **var, node **first)
{
  if (init && init->kind == S_DECL && init->list && !init->list->next && init->list->a) {
    *var = init->list->sym;
    *first = init->list->a;
    return port_is_integer((*var)->type);
  }
  if (init && init->kind == S_EXPR) init = init->a;
  if (init && init->kind == N_ASSIGN && !strcmp(init->op, "=") && init->a->kind == N_NAME) {
    *var = init->a->sym;
    *first = init->b;
    return port_is_integer((*var)->type);
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

static bool is_taken(const nest *n, int atom)
{
  for (int k = 0; k < n->nloops; k++)
    if (n->loops[k].atom == atom) return true;
  for (int k = 0; k < n->ninner; k++)
    if (n->inner[k].atom == atom) return true;
  return false;
}

/* Loops of one nest may have the same variable, one after the other: an atom each. */
static int own_atom(const nest *n, const symbol *var)
{
  const int atom = port_atom_of(var);
  symbol *copy;

  if (!is_taken(n, atom)) return atom;
  copy = port_new(sizeof *copy);
  *copy = *var;
  return port_atom_of(copy);
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
  if (by == 2 && port_parity_start(n, f, &first)) by = 1;
  from = port_poly_of(n, first);
  to = port_poly_of(n, limit);
  l->first = first;
  l->from = (poly){0};
  if (!is_steady(n, from) && port_poly_is_number(port_poly_sub(to, from), NULL)) {
    l->from = from; /* y = i - 1; y <= i + 1: three rounds */
    to = port_poly_sub(to, from);
    from = (poly){0};
  }
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
  l->atom = own_atom(n, l->var);
  return true;
}

/* Whether the loop runs a few times only, a number known here. */
bool port_loop_is_short(const loop *l)
{
  int64_t lo, hi;

  return port_poly_is_number(l->lo, &lo) && port_poly_is_number(l->hi, &hi) &&
         hi - lo <= SHORT_LOOP;
}

static bool declares(node *e, void *user)
{
  return e->kind == N_DECL && e->sym == user;
}

typedef struct subscript_search {
  nest *n;
  const symbol *var;
  poly hi; /* of the loop */
  bool in_write, in_read;
  bool is_inner; /* only loops inside the body count: */
  bool is_lone; /* they write an element that has the variable, and nothing else that they change */
  bool is_apart; /* they write one without the variable */
} subscript_search;

static bool names_symbol(node *e, void *user)
{
  return e->kind == N_NAME && e->sym == ((subscript_search *)user)->var;
}

static bool is_other_variable(node *e, void *user)
{
  const subscript_search *s = user;

  return e->kind == N_NAME && e->sym != s->var &&
         (port_is_assigned(e->sym) || port_find(s->n->whole, declares, e->sym));
}

/* (i + 1) % n, where i < n. */
static bool wraps(const node *e, const subscript_search *s)
{
  return !strcmp(e->op, "%") && !port_find(e->a, is_other_variable, (void *)(uintptr_t)s) &&
         port_poly_equal(port_poly_of(s->n, e->b), s->hi);
}

/* Not below %: [t % 2] chooses an array, not a cell. */
static bool selects(node *e, const subscript_search *s)
{
  if (!e) return false;
  if (e->kind == N_BINARY && (!strcmp(e->op, "%") || !strcmp(e->op, "&")) && !wraps(e, s))
    return false;
  if (e->kind == N_NAME) return e->sym == s->var;
  if (selects(e->a, s) || selects(e->b, s) || selects(e->c, s)) return true;
  for (node *k = e->list; k; k = k->next)
    if (selects(k, s)) return true;
  return false;
}

/* Whether the variable, or one computed from it, stands in subscripts of accesses. */
static bool look_for_subscripts(node *e, void *user)
{
  subscript_search *s = user;

  if (e->kind == N_ASSIGN && e->a->kind != N_NAME && selects(e->a, s)) s->in_write = true;
  if (e->kind == N_INDEX && port_find(e->b, names_symbol, s)) s->in_read = true;
  if (e->kind == N_UNARY && e->op[0] == '*' && port_find(e->a, names_symbol, s)) s->in_read = true;
  return true;
}

static bool gives_value(node *e, void *user)
{
  if (e->kind == N_UNARY && e->a->kind == N_NAME && strpbrk(e->op, "+-") && e->op[1])
    return e->a->sym == user;
  return declares(e, user) || (e->kind == N_ASSIGN && e->a->kind == N_NAME && e->a->sym == user);
}

typedef struct other_names {
  node *loop;
  const symbol *var;
} other_names;

/* A name, other than that of the loop variable, that changes inside the loop. */
static bool is_other(node *e, void *user)
{
  const other_names *o = user;

  return e->kind == N_NAME && e->sym != o->var && port_find(o->loop, gives_value, e->sym);
}

/* history[t] in a nest is one place for all of its cells. */
static bool look_at_writes(node *e, void *user)
{
  struct {
    other_names names;
    subscript_search *s;
  } *f = user;

  if (e->kind != N_ASSIGN || e->a->kind == N_NAME) return true;
  if (!selects(e->a, f->s))
    f->s->is_apart = true;
  else if (port_find(f->names.loop, gives_value, (void *)(uintptr_t)f->s->var) ||
           port_find(e->a, is_other, &f->names))
    f->s->in_write = true;
  else
    f->s->is_lone = true;
  return true;
}

static bool look_inside_loops(node *e, void *user)
{
  struct {
    other_names names;
    subscript_search *s;
  } f = {{e, ((subscript_search *)user)->var}, user};

  if (e->kind != S_FOR) return true;
  port_walk(e, look_at_writes, &f);
  return false;
}

static bool is_name(node *e, void *user)
{
  (void)user;
  return e->kind == N_NAME;
}

/* An element of an array that outlives the body. */
static bool writes_elements(node *e, void *user)
{
  const node *root;

  if (e->kind != N_ASSIGN || e->a->kind == N_NAME) return false;
  root = port_find(e->a, is_name, NULL);
  return !root || root->sym->type != T_ARRAY || !port_find(user, declares, root->sym);
}

static bool is_inner_writer(node *e, void *user)
{
  return e->kind == S_FOR && port_find(e->d, writes_elements, user);
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
  if (made && made != f->s->var && (port_is_integer(made->type) || made->type == T_POINTER) &&
      selects(from, f->s)) {
    subscript_search inner = {
        .n = f->s->n, .var = made, .hi = f->s->hi, .is_inner = f->s->is_inner};

    search(f->body, made, &inner, f->depth + 1);
    f->s->in_write |= inner.in_write;
    f->s->is_lone |= inner.is_lone;
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
  port_walk(body, s->is_inner ? look_inside_loops : look_for_subscripts, s);
  if (depth < 4) port_walk(body, follow_temporaries, &f);
}

typedef struct collects {
  nest *n;
  node *body;
} collects;

/* An assignment to a variable of the kernel that lives longer than one round of the loop. */
static bool is_collecting(node *e, void *user)
{
  const collects *c = user;
  const bool counts = e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--"));

  return (e->kind == N_ASSIGN || counts) && e->a->kind == N_NAME &&
         port_nest_is_local(c->n, e->a->sym) && !port_find(c->body, declares, e->a->sym);
}

/* A loop over cells: its variable selects the element that is written, or, where nothing is, read.
 * Where loops inside it write, it must be there: rec[t] = u[5] after a nest does not make t a loop
 * over cells. A loop that collects something for a cell is part of the kernel. */
bool port_loop_is_cells(nest *n, node *f, const loop *l)
{
  subscript_search s = {.n = n, .var = l->var, .hi = l->hi};
  collects c = {n, f->d};

  s.is_inner = port_find(f->d, is_inner_writer, f->d) != NULL;
  search(f->d, l->var, &s, 0);
  if (port_find(f->d, writes_elements, f->d)) return s.in_write || (s.is_lone && !s.is_apart);
  return s.in_read && !port_find(f->d, is_collecting, &c);
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
