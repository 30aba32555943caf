/* SPDX-License-Identifier: BSD-3-Clause */
/* walk.c - takes a nest apart: loops, statements of the kernel, accesses to arrays.
 *
 * The statements are walked in the order in which they run. Integers that are polynomials in loop
 * variables (idx = j * nx + i) and pointers into arrays (row = u + j * nx) are bound to their value
 * and vanish; every element of an array becomes an access at that moment (resolve.c), so that a
 * variable may be used again for something else. The rest is the kernel: numbers, conditions, short
 * loops.
 */
#include "walk.h"

#include <string.h>

/* ---- statements ---- */

static bool statements(nest *n, node *list, node ***out);

static void append(node *s, node ***out)
{
  s->next = NULL;
  **out = s;
  *out = &s->next;
}

static bool is_computed(node *e, void *user)
{
  (void)user;
  return e->kind == N_INDEX || e->kind == N_CALL || e->kind == N_MEMBER || e->type == T_F32 ||
         e->type == T_F64 || (e->kind == N_UNARY && e->op[0] == '*');
}

/* An assignment that makes an integer a number of the kernel, and not an index: a count, a sum of
 * elements. */
static bool counts_up(node *e, void *user)
{
  if (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--")))
    return e->a->kind == N_NAME && e->a->sym == user;
  return e->kind == N_ASSIGN && e->a->kind == N_NAME && e->a->sym == user &&
         (strcmp(e->op, "=") != 0 || port_find(e->b, is_computed, NULL));
}

static bool counts_in_branch(node *e, void *user)
{
  return (e->kind == S_IF && port_find(e, counts_up, user)) ||
         (e->kind == N_ASSIGN && e->a->kind == N_NAME && e->a->sym == user &&
          port_find(e->b, is_computed, NULL));
}

/* Written out, int k = 0; ... k++; ... k++; has known values as long as no condition is around. */
static bool is_number_of_kernel(const nest *n, symbol *s)
{
  return port_find(n->whole, n->is_unrolled ? counts_in_branch : counts_up, s) != NULL;
}

static bool declare(nest *n, node *d, node ***out)
{
  node *s, *decl;
  poly p;

  port_make_local(n, d->sym);
  if (d->sym->type == T_POINTER) {
    if (!d->a) return true;
    port_walk(d, port_expand_pointers, NULL);
    port_walk(d->a, port_fix_subscripts, n);
    port_bind(d->sym, port_poly_bad(), d->a);
    return true;
  }
  if (d->a && port_is_integer(d->sym->type) && !is_number_of_kernel(n, d->sym)) {
    p = port_poly_of(n, d->a);
    if (!p.is_bad) {
      port_bind(d->sym, p, NULL);
      return true;
    }
  }
  if (d->a && d->a->kind == N_LIST) {
    for (node *k = d->a->list; k; k = k->next)
      if (k->kind != N_LIST && !port_resolve(n, k)) return false;
  } else if (!port_resolve(n, d->a))
    return false;
  if (d->sym->type != T_ARRAY && !port_is_number(d->sym->type))
    return port_refuse(n, d, port_text("'%s' is neither a number nor a pointer", d->sym->name),
                       NULL);
  s = port_node(S_DECL, d);
  decl = s->list = port_new(sizeof *decl);
  *decl = *d;
  decl->next = NULL;
  append(s, out);
  return true;
}

/* A variable that a condition changes is not known afterwards. */
static void lose(const symbol *s)
{
  binding *b = port_bound(s);

  if (b) port_bind(s, port_poly_bad(), NULL);
}

static bool assign_name(nest *n, node *e, node ***out)
{
  symbol *s = e->a->sym;
  node *statement;
  poly p;

  if (s->type == T_POINTER && !strcmp(e->op, "=") && !port_state.branches) {
    port_walk(e, port_expand_pointers, NULL);
    port_walk(e->b, port_fix_subscripts, n);
    port_make_local(n, s);
    port_bind(s, port_poly_bad(), e->b);
    return true;
  }
  if (!port_is_number(s->type))
    return port_refuse(n, e, port_text("the nest changes '%s'", s->name), NULL);
  if (port_is_integer(s->type) && !port_state.branches && !port_state.ninner) {
    node value = *e->b;

    if (strcmp(e->op, "=")) {
      value.kind = N_BINARY;
      value.poly = NULL;
      value.is_constant = false;
      value.op = e->op[0] == '+' ? "+" : e->op[0] == '-' ? "-" : e->op[0] == '*' ? "*" : "?";
      value.a = e->a;
      value.b = e->b;
      value.type = T_I32;
    }
    p = port_poly_of(n, &value);
    if (!p.is_bad && (port_bound(s) || !port_nest_is_local(n, s))) {
      port_bind(s, p, NULL);
      return true;
    }
  }
  if (port_state.branches || port_state.ninner) lose(s);
  if (port_bound(s) && !port_state.branches) { /* a number of the kernel from now on */
    for (int i = 0; i < port_state.nbindings; i++)
      if (port_state.bindings[i].sym == s) port_state.bindings[i].sym = NULL;
    statement = port_node(S_DECL, e);
    statement->list = port_node(N_DECL, e);
    statement->list->sym = s;
    statement->list->type = s->type;
    append(statement, out);
  }
  if (!port_resolve(n, e->b)) return false;
  port_make_local(n, s);
  statement = port_node(S_EXPR, e);
  statement->a = e;
  append(statement, out);
  return true;
}

static bool expression(nest *n, node *e, node ***out)
{
  node *s;

  while (e->kind == N_CAST)
    e = e->a;
  if (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--"))) {
    node *by = port_node(N_ASSIGN, e);

    by->op = strstr(e->op, "++") ? "+=" : "-=";
    by->a = e->a;
    by->b = port_number(1, e);
    by->type = e->type;
    e = by;
  }
  if (e->kind == N_BINARY && !strcmp(e->op, ","))
    return expression(n, e->a, out) && expression(n, e->b, out);
  if (e->kind == N_NUMBER || e->kind == N_NAME) return true;
  if (e->kind != N_ASSIGN)
    return e->kind == N_CALL ? port_resolve(n, e)
                             : port_refuse(n, e, "this statement is not understood", NULL);
  if (e->b->kind == N_ASSIGN) { /* a = b = c: b is c, converted to its type */
    node *first = e->b, *copy;

    for (copy = first; copy->kind == N_ASSIGN && copy->a->type == e->a->type;)
      copy = copy->b;
    copy = port_copy_tree(copy->kind == N_NUMBER ? copy : first->a);
    if (!expression(n, first, out)) return false;
    e->b = copy;
  }
  if (e->text) { /* a reduction */
    if (!port_resolve(n, e->b)) return false;
    s = port_node(S_EXPR, e);
    s->a = e;
    append(s, out);
    return true;
  }
  if (e->a->kind == N_NAME) return assign_name(n, e, out);
  if (!port_resolve(n, e->b) || !port_element(n, e->a, true, strcmp(e->op, "=") != 0)) return false;
  s = port_node(S_EXPR, e);
  s->a = e;
  append(s, out);
  return true;
}

static bool branch(nest *n, node *condition, bool is_true, node *b, node **out)
{
  const int nbindings = port_state.nbindings;
  node *block = port_node(S_BLOCK, b), **tail = &block->list;
  const symbol *lost[32];
  int nlost = 0;

  if (!port_refine_push()) return port_refuse(n, b, "conditions are nested too deeply", NULL);
  port_refine_condition(n, condition, is_true);
  port_state.branches++;
  if (!statements(n, b->kind == S_BLOCK ? b->list : b, &tail)) return false;
  port_state.branches--;
  port_refine_pop();
  for (int i = nbindings; i < port_state.nbindings && nlost < 32; i++)
    if (port_state.bindings[i].sym && port_state.bindings[i].value.is_bad &&
        !port_state.bindings[i].is_tree)
      lost[nlost++] = port_state.bindings[i].sym;
  port_state.nbindings = nbindings;
  for (int i = 0; i < nlost; i++)
    lose(lost[i]);
  *out = block;
  return true;
}

/* int up = i - 1; if (up < 0) up = n - 1; is up = i - 1 < 0 ? n - 1 : i - 1. */
static bool guards_index(nest *n, node *s)
{
  node *then = s->b && s->b->kind == S_BLOCK ? s->b->list : s->b, *choice;
  binding *b;
  poly p;

  if (s->c || !then || then->next || then->kind != S_EXPR || then->a->kind != N_ASSIGN ||
      strcmp(then->a->op, "=") || then->a->text || then->a->a->kind != N_NAME ||
      port_state.branches || port_state.ninner)
    return false;
  b = port_bound(then->a->a->sym);
  if (!b || b->is_tree || b->value.is_bad) return false;
  choice = port_node(N_COND, s);
  choice->type = T_I32;
  choice->a = s->a;
  choice->b = then->a->b;
  choice->c = then->a->a;
  p = port_poly_of(n, choice);
  if (p.is_bad) return false;
  port_bind(then->a->a->sym, p, NULL);
  return true;
}

static bool conditional(nest *n, node *s, node ***out)
{
  node *copy = port_node(S_IF, s), *condition = port_copy_tree(s->a);

  if (guards_index(n, s)) return true;
  if (!port_resolve(n, s->a)) return false;
  copy->a = s->a;
  if (!branch(n, condition, true, s->b, &copy->b)) return false;
  if (s->c && !branch(n, condition, false, s->c, &copy->c)) return false;
  append(copy, out);
  return true;
}

/* A short loop stays a loop of the kernel, which unrolls it. */
static bool short_loop(nest *n, node *f, const loop *l, node ***out)
{
  node *copy = port_node(S_FOR, f), *block = port_node(S_BLOCK, f), **tail = &block->list;
  const int nbindings = port_state.nbindings;
  const poly var = port_poly_add(l->from, port_poly_atom(l->atom));

  if (!port_loop_is_short(l))
    return port_refuse(n, f, "this loop is neither over cells nor over a small number known here",
                       "sums over a whole axis need a nest of their own");
  port_make_local(n, l->var);
  port_bind(l->var, var, NULL);
  if (port_state.ninner == LOOPS) return port_refuse(n, f, "there are too many loops", NULL);
  port_state.inner[port_state.ninner++] = l->atom;
  if (n->ninner == 32) return port_refuse(n, f, "there are too many loops", NULL);
  n->inner[n->ninner++] = *l;
  if (!statements(n, f->d->kind == S_BLOCK ? f->d->list : f->d, &tail)) return false;
  port_state.ninner--;
  port_state.nbindings = nbindings;
  copy->sym = (symbol *)(uintptr_t)port_atom_symbol(l->atom);
  copy->a = port_number(l->lo.n ? l->lo.terms[0].factor : 0, f);
  copy->b = port_number(l->hi.n ? l->hi.terms[0].factor : 0, f);
  copy->value = l->step;
  copy->d = block;
  if (l->is_down) return port_refuse(n, f, "a short loop counts down", NULL);
  append(copy, out);
  return true;
}

/* ---- leaves ---- */

/* An assignment to an element, or a reduction. */
static bool has_effect(node *e, void *user)
{
  (void)user;
  return e->kind == N_ASSIGN && (e->a->access || e->text);
}

static void add_leaf(nest *n, node *body, node *own)
{
  leaf *l;

  port_state.leaf++;
  if (!port_find(body, has_effect, NULL)) return;
  l = port_new(sizeof *l);
  l->nloops = port_state.nloops;
  memcpy(l->loops, port_state.loops, sizeof l->loops);
  l->body = body;
  l->own = own;
  if (n->last_leaf)
    n->last_leaf->next = l;
  else
    n->leaves = l;
  n->last_leaf = l;
}

/* The declarations and assignments to variables of an outer depth, for the kernels of inner ones.
 */
static node *prefix_block(const node *list, const node *place)
{
  node *block = port_node(S_BLOCK, place), **tail = &block->list;

  for (const node *k = list; k; k = k->next)
    if (!port_find((node *)(uintptr_t)k, has_effect, NULL)) append(port_copy_tree(k), &tail);
  return block;
}

static node **end_of(node *block)
{
  node **tail = &block->list;

  while (*tail)
    tail = &(*tail)->next;
  return tail;
}

static bool enter(nest *n, node *s, node *rest, loop *l, node **prefix);

static bool declares(node *e, void *user)
{
  return e->kind == N_DECL && e->sym == user;
}

/* Statements between loops over cells; those before a loop are part of its kernel, too. */
static bool cells(nest *n, node *list, const node *prefix)
{
  node *block = prefix_block(prefix ? prefix->list : NULL, list), **tail = end_of(block);
  node **own = tail;

  for (node *s = list, *next; s; s = next) {
    loop l;

    next = s->next;
    if (s->kind == S_BLOCK && s == list && !next) return cells(n, s->list, prefix);
    if (s->kind == S_FOR && !port_loop_header(n, s, &l)) return false;
    if (s->kind == S_FOR && port_loop_is_cells(n, s, &l)) {
      add_leaf(n, block, *own);
      block = prefix_block(block->list, s);
      own = tail = end_of(block);
      if (!enter(n, s, next, &l, &block)) return false;
      continue;
    }
    s->next = NULL;
    if (!statements(n, s, &tail)) return false;
  }
  add_leaf(n, block, *own);
  return true;
}

/* Variables that cells carry to the next ones of a line: the loop goes over all of the line, and
 * nothing else is in it. */
static bool carry(nest *n, node *s, node *rest, const leaf *before)
{
  symbol *carried[4];
  const int count = port_carried(n, s, rest, carried, 4);
  leaf *l = n->last_leaf;

  if (!count) return true;
  if (count < 0 || l == before || (before ? before->next : n->leaves) != l ||
      l->nloops != port_state.nloops)
    return port_refuse(n, s, "the loop carries a value from one cell to the next",
                       "sums and recurrences along lines are understood, if nothing behind the "
                       "loop uses the variable");
  l->ncarried = count;
  memcpy(l->carried, carried, sizeof l->carried);
  return true;
}

static bool enter(nest *n, node *s, node *rest, loop *l, node **prefix)
{
  const int nbindings = port_state.nbindings;
  const leaf *before = n->last_leaf;
  node *loop = port_copy_tree(s);

  if (n->nloops == LOOPS) return port_refuse(n, s, "the nest has too many loops", NULL);
  if (l->from.n)
    return port_refuse(n, l->first, "a bound of the loop changes inside the nest",
                       "bounds must be the same for all cells: a box");
  l->is_outside = !port_find(n->whole, declares, l->var) && port_is_live(n, l->var);
  port_make_local(n, l->var);
  n->loops[n->nloops] = *l;
  port_bind(l->var, port_poly_atom(l->atom), NULL);
  port_state.loops[port_state.nloops++] = n->nloops++;
  if (!cells(n, s->d->kind == S_BLOCK ? s->d->list : s->d, *prefix)) return false;
  if (port_state.nloops > 1 && !carry(n, loop, rest, before)) return false;
  port_state.nloops--;
  port_state.nbindings = nbindings;
  return true;
}

static bool statements(nest *n, node *list, node ***out)
{
  for (node *s = list, *next; s; s = next) {
    loop l;

    next = s->next;
    switch (s->kind) {
    case S_BLOCK:
      if (!statements(n, s->list, out)) return false;
      break;
    case S_DECL:
      for (node *d = s->list; d; d = d->next)
        if (!declare(n, d, out)) return false;
      break;
    case S_EXPR:
      if (!expression(n, s->a, out)) return false;
      break;
    case S_IF:
      if (!conditional(n, s, out)) return false;
      break;
    case S_FOR:
      if (!port_loop_header(n, s, &l) || !short_loop(n, s, &l, out)) return false;
      break;
    case S_NULL: break;
    case S_BREAK:
      return port_refuse(n, s, "the nest ends early: break", "let every cell be computed");
    case S_CONTINUE:
      return port_refuse(n, s, "continue leaves out the rest of a cell", "use if and else");
    case S_RETURN: return port_refuse(n, s, "the function returns from inside the nest", NULL);
    case S_WHILE:
    case S_DO:
      return port_refuse(n, s, "a while loop inside the nest: how often it runs is not known",
                         NULL);
    default: return port_refuse(n, s, "this statement is not understood", NULL);
    }
  }
  return true;
}

/* ---- the nest ---- */

static bool is_loop_inside(node *e, void *user)
{
  return e->kind == S_FOR && e != user;
}

static bool note_assigned(node *e, void *user)
{
  node *target = NULL;

  (void)user;
  if (e->kind == N_ASSIGN) target = e->a;
  if (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--"))) target = e->a;
  if (e->kind == N_ASSIGN && e->text) return true; /* a reduction */
  if (target && target->kind == N_NAME && !port_is_assigned(target->sym) &&
      port_state.nassigned < ASSIGNED)
    port_state.assigned[port_state.nassigned++] = target->sym;
  return true;
}

bool port_nest_copy(nest *n)
{
  memset(&port_state, 0, sizeof port_state);
  port_refine_reset();
  n->copy = port_copy_tree(n->node);
  if (!port_inline(n)) return false;
  port_split_structs(n);
  port_normalise(n);
  port_loop_continue(n->copy);
  return true;
}

bool port_nest_open(nest *n)
{
  node *first;
  loop l;

  if (!port_nest_copy(n)) return false;
  if (n->fixed) port_case_fix(n);
  if (n->is_unrolled && !port_unroll(n)) return port_refuse(n, n->node, "no loop is short", NULL);
  port_lines_find(n);
  port_name_places(n);
  n->has_short = port_find(n->copy, is_loop_inside, n->copy) != NULL;
  port_walk(n->copy, note_assigned, NULL);
  first = n->copy->kind == S_BLOCK ? n->copy->list : n->copy;
  if (first->kind != S_FOR) return port_refuse(n, n->node, "the nest begins with no loop", NULL);
  if (!port_loop_header(n, first, &l)) return false;
  if (!port_loop_is_cells(n, first, &l))
    return port_refuse(
        n, n->node, "the loop is not over cells: its variable is in no subscript that is written",
        NULL);
  n->is_cells = true;
  port_state.nassigned = 0;
  if (!port_scalars(n)) return false;
  n->whole = port_copy_tree(n->copy);
  port_walk(n->copy, note_assigned, NULL);
  return cells(n, n->copy, NULL) &&
         (n->leaves || port_refuse(n, n->node, "the nest has no effect", NULL)) && port_live_out(n);
}
