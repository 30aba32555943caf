/* walk.c - takes a nest apart: loops, statements of the kernel, accesses to arrays.
 *
 * The statements are walked in the order in which they run. Integers that are polynomials in loop
 * variables (idx = j * nx + i) and pointers into arrays (row = u + j * nx) are bound to their value and
 * vanish; every element of an array becomes an access at that moment, so that a variable may be
 * used again for something else. What remains is the kernel: numbers, conditions, short loops.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "nest.h"

#include <stdlib.h>
#include <string.h>

enum { BINDINGS = 512, ASSIGNED = 512 };

typedef struct binding {
  const symbol *sym;
  bool is_tree; /* a pointer: tree; else an integer: value */
  poly value;
  node *tree;
} binding;

static struct {
  binding bindings[BINDINGS];
  int nbindings;
  const symbol *assigned[ASSIGNED]; /* scalars that the nest assigns to, anywhere */
  int nassigned;
  int loops[LOOPS], nloops; /* around the current statement */
  int branches;             /* conditions around it */
  int inner[LOOPS], ninner; /* atoms of short loops around it */
  int order;
} w;

bool port_refuse(nest *n, const node *at, const char *why, const char *advice)
{
  if (n->why) return false;
  n->fault = at;
  n->why = why;
  n->advice = advice;
  return false;
}

void port_require(nest *n, const char *holds, const char *reason)
{
  for (int i = 0; i < n->nrequires; i++)
    if (!strcmp(n->requires[i], holds)) return;
  if (n->nrequires == 48) {
    port_refuse(n, n->node, "too many conditions depend on numbers that are known at run time only",
                NULL);
    return;
  }
  n->requires[n->nrequires] = holds;
  n->reasons[n->nrequires++] = reason;
}

/* ---- names ---- */

bool port_nest_is_local(const nest *n, const symbol *s)
{
  for (int i = 0; i < n->nlocals; i++)
    if (n->locals[i] == s) return true;
  return false;
}

static void make_local(nest *n, symbol *s)
{
  if (!port_nest_is_local(n, s) && n->nlocals < 256) n->locals[n->nlocals++] = s;
}

static bool is_assigned(const symbol *s)
{
  for (int i = 0; i < w.nassigned; i++)
    if (w.assigned[i] == s) return true;
  return false;
}

loop *port_nest_loop(nest *n, int atom)
{
  for (int i = 0; i < n->nloops; i++)
    if (n->loops[i].atom == atom) return &n->loops[i];
  return NULL;
}

static binding *bound(const symbol *s)
{
  for (int i = w.nbindings - 1; i >= 0; i--)
    if (w.bindings[i].sym == s) return &w.bindings[i];
  return NULL;
}

static void bind(const symbol *s, poly value, node *tree)
{
  if (w.nbindings == BINDINGS) return;
  w.bindings[w.nbindings++] = (binding){s, tree != NULL, value, tree};
}

static bool is_integer(value_type t)
{
  return t == T_I32 || t == T_I64 || t == T_I16 || t == T_U8 || t == T_INTEGER;
}

static bool is_number(value_type t)
{
  return t <= T_INTEGER;
}

/* ---- polynomials ---- */

static bool varies(node *e, void *user)
{
  nest *n = user;

  if (e->kind == N_NAME)
    return is_assigned(e->sym) || port_nest_is_local(n, e->sym) || bound(e->sym);
  return e->kind == N_ASSIGN || e->kind == N_CALL || e->kind == N_OPAQUE ||
         (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--")));
}

static poly power_of_two(nest *n, const node *e, poly a)
{
  int64_t x;

  if (!port_poly_is_number(port_poly_of(n, e->b), &x) || x < 0 || x > 40) return port_poly_bad();
  return port_poly_mul(a, port_poly_number((int64_t)1 << x));
}

static poly binary_poly(nest *n, node *e)
{
  poly a = port_poly_of(n, e->a), b, q, r;
  int64_t x, y;

  if (a.is_bad) return a;
  if (!strcmp(e->op, "<<")) return power_of_two(n, e, a);
  b = port_poly_of(n, e->b);
  if (b.is_bad) return b;
  switch (e->op[0]) {
  case '+': return port_poly_add(a, b);
  case '-': return port_poly_sub(a, b);
  case '*': return port_poly_mul(a, b);
  case '/':
    if (port_poly_is_number(a, &x) && port_poly_is_number(b, &y) && y && e->op[1] == 0)
      return port_poly_number(x / y);
    port_poly_divide(a, b, &q, &r);
    if (!r.is_bad && !r.n && !port_poly_is_number(b, NULL)) return q;
    break;
  case '%':
    if (port_poly_is_number(a, &x) && port_poly_is_number(b, &y) && y)
      return port_poly_number(x % y);
    break;
  default: break;
  }
  return port_poly_bad();
}

poly port_poly_of(nest *n, node *e)
{
  poly p = port_poly_bad();
  binding *b;

  e = port_bare(e);
  if (e->poly) return *e->poly;
  if (e->is_constant) return port_poly_number(e->value);
  if (!is_integer(e->type)) return p;
  if (e->kind == N_NAME) {
    b = bound(e->sym);
    if (b) return b->is_tree ? p : b->value;
    if (port_nest_is_local(n, e->sym) || is_assigned(e->sym)) return p;
    return port_poly_atom(port_atom_of(e->sym));
  }
  if (e->kind == N_BINARY) p = binary_poly(n, e);
  if (e->kind == N_UNARY && !strcmp(e->op, "-"))
    p = port_poly_sub(port_poly_number(0), port_poly_of(n, e->a));
  if (e->kind == N_UNARY && !strcmp(e->op, "+")) p = port_poly_of(n, e->a);
  if (!p.is_bad) return p;
  p = port_guard_poly(n, e);
  if (!p.is_bad || port_find(e, varies, n)) return p;
  return port_poly_atom(port_atom_of_text(port_print(e)));
}

/* ---- expressions ---- */

static bool resolve(nest *n, node *e);

static node *root_of(node *e)
{
  while (e->kind == N_INDEX || e->kind == N_MEMBER || e->kind == N_CAST ||
         (e->kind == N_UNARY && (e->op[0] == '*' || e->op[0] == '&')) || e->kind == N_BINARY)
    e = e->a;
  return e;
}

/* Pointers and row temporaries stand for the tree they were given. */
static node *expanded(node *e)
{
  binding *b = e && e->kind == N_NAME ? bound(e->sym) : NULL;
  node *copy;

  if (!b || !b->is_tree) return e;
  copy = port_copy_tree(b->tree);
  copy->next = e->next;
  return copy;
}

static bool expand_pointers(node *e, void *user)
{
  (void)user;
  e->a = expanded(e->a);
  e->b = expanded(e->b);
  e->c = expanded(e->c);
  e->d = expanded(e->d);
  for (node **k = &e->list; *k; k = &(*k)->next)
    *k = expanded(*k);
  return true;
}

/* Subscripts keep the value they have now. */
static bool fix_subscripts(node *e, void *user)
{
  nest *n = user;
  poly p;

  if (is_integer(e->type) && !e->poly && e->kind != N_INDEX && e->kind != N_MEMBER) {
    p = port_poly_of(n, e);
    if (!p.is_bad) {
      e->poly = port_new(sizeof p);
      *e->poly = p;
      return false;
    }
  }
  return true;
}

static bool is_invariant(nest *n, const access *a)
{
  for (int i = 0; i < a->nsubs; i++) {
    for (int k = 0; k < n->nloops; k++)
      if (port_poly_has(a->subs[i], n->loops[k].atom)) return false;
    for (int k = 0; k < w.ninner; k++)
      if (port_poly_has(a->subs[i], w.inner[k])) return false;
    for (int k = 0; k < n->nguards; k++)
      if (port_poly_has(a->subs[i], n->guards[k].atom)) return false;
  }
  return true;
}

static bool only_inner(const nest *n, const access *a)
{
  for (int i = 0; i < a->nsubs; i++) {
    for (int k = 0; k < n->nloops; k++)
      if (port_poly_has(a->subs[i], n->loops[k].atom)) return false;
    for (int k = 0; k < n->nguards; k++)
      if (port_poly_has(a->subs[i], n->guards[k].atom)) return false;
  }
  for (int i = 0; i < a->nsubs; i++)
    for (int k = 0; k < w.ninner; k++)
      if (port_poly_has(a->subs[i], w.inner[k])) return true;
  return false;
}

static bool is_not_number(node *e, void *user)
{
  (void)user;
  return e->kind != N_NUMBER && e->kind != N_LIST && e->kind != N_UNARY && e->kind != N_BINARY &&
         e->kind != N_CAST;
}

/* w[k + 1], where k is the variable of a short loop: a constant table becomes part of the kernel. */
static bool table(nest *n, node *e, access *a)
{
  symbol *root = a->array->root;

  if (!root->init) root->init = port_initializer(n->unit, root);
  if (root->type != T_ARRAY || !clang_isConstQualifiedType(root->ctype) || !root->init ||
      port_find(root->init, is_not_number, NULL) || e->kind != N_INDEX)
    return port_refuse(
        n, e, port_text("'%s' is indexed by a short loop, and is not a constant table", root->name),
        "declare it const, with its values");
  a->is_table = true;
  e->access = a;
  return true;
}

/* Whether conditions leave one value of some loop variable here: u[0] where i == 0 is u[i]. */
static bool is_pinned(const nest *n)
{
  poly from[LOOPS], to[LOOPS];

  port_refine_copy(n, from, to);
  for (int k = 0; k < n->nloops; k++)
    if (port_poly_equal(port_poly_sub(to[k], from[k]), port_poly_number(1))) return true;
  return false;
}

static bool element(nest *n, node *e, bool is_write, bool is_read)
{
  access *a;

  port_walk(e, expand_pointers, NULL);
  if (root_of(e)->kind == N_NAME &&
      port_nest_is_local(n, root_of(e)->sym)) { /* a table of the kernel */
    if (e->kind != N_INDEX) return port_refuse(n, e, "this is no element of an array", NULL);
    for (node *k = e; k->kind == N_INDEX; k = k->a)
      if (!resolve(n, k->b)) return false;
    return true;
  }
  if (!(a = port_access_of(n, e))) return false;
  if (!is_write && is_invariant(n, a) &&
      !(a->nsubs && is_pinned(n))) { /* a number that all cells share */
    e->access = a;
    a->is_value = true;
    return true;
  }
  if (!is_write && only_inner(n, a)) return table(n, e, a);
  if (n->naccesses == MOST_ACCESSES) return port_refuse(n, e, "the nest is too long", NULL);
  a->is_write = is_write;
  a->is_read = is_read;
  a->order = w.order++;
  port_refine_copy(n, a->from, a->to);
  e->access = a;
  n->accesses[n->naccesses++] = a;
  return true;
}

static bool is_known_function(const char *name)
{
  static const char *const names[] = {
      "fabs",  "sqrt", "fmin",  "fmax", "fma",   "floor",   "ceil", "trunc", "round",
      "rint",  "fmod", "exp",   "exp2", "expm1", "log",     "log2", "log10", "log1p",
      "pow",   "cbrt", "hypot", "sin",  "cos",   "tan",     "asin", "acos",  "atan",
      "atan2", "sinh", "cosh",  "tanh", "erf",   "copysign"};
  const size_t len = strlen(name);

  if (!strcmp(name, "abs") || !strcmp(name, "labs")) return true;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i]) ||
        (len == strlen(names[i]) + 1 && name[len - 1] == 'f' && !strncmp(name, names[i], len - 1)))
      return true;
  return false;
}

static bool resolve_name(nest *n, node *e)
{
  binding *b = bound(e->sym);

  if (b && !b->is_tree) {
    if (b->value.is_bad)
      return port_refuse(
          n, e, port_text("'%s' is not known here: a condition changed it", e->sym->name), NULL);
    e->poly = port_new(sizeof *e->poly);
    *e->poly = b->value;
    return true;
  }
  if (b || !is_number(e->type))
    return port_refuse(n, e, port_text("'%s' is not a number", e->sym->name), NULL);
  return true;
}

/* Either side of a choice is computed only where its condition says so. */
static bool resolve_where(nest *n, node *condition, bool is_true, node *e)
{
  bool ok;

  if (!port_refine_push()) return resolve(n, e);
  port_refine_condition(n, condition, is_true);
  ok = resolve(n, e);
  port_refine_pop();
  return ok;
}

static bool resolve(nest *n, node *e)
{
  if (!e) return true;
  switch (e->kind) {
  case N_NUMBER: return true;
  case N_NAME: return resolve_name(n, e);
  case N_BINARY:
    if (!strcmp(e->op, "&&") || !strcmp(e->op, "||"))
      return resolve(n, e->a) && resolve_where(n, e->a, e->op[0] == '&', e->b);
    return resolve(n, e->a) && resolve(n, e->b);
  case N_COND:
    return resolve(n, e->a) && resolve_where(n, e->a, true, e->b) &&
           resolve_where(n, e->a, false, e->c);
  case N_CAST: return resolve(n, e->a);
  case N_INDEX:
  case N_MEMBER: return element(n, e, false, true);
  case N_UNARY:
    if (e->op[0] == '*') return element(n, e, false, true);
    if (strchr("-+!~", e->op[0]) && !e->op[1]) return resolve(n, e->a);
    return port_refuse(n, e, "an expression changes a variable or takes an address",
                       "write it as a statement of its own");
  case N_CALL:
    if (!is_known_function(e->text))
      return port_refuse(
          n, e,
          port_text("the nest calls '%s', whose effect is not known",
                    e->text[0] ? e->text : "a function"),
          "functions of <math.h> and functions with a body in this program that only "
          "compute are understood");
    for (node *k = e->list; k; k = k->next)
      if (!resolve(n, k)) return false;
    return true;
  case N_ASSIGN:
    return port_refuse(n, e, "an assignment stands inside an expression",
                       "write it as a statement of its own");
  default: return port_refuse(n, e, "this expression is not understood", NULL);
  }
}

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

/* An assignment that makes an integer a number of the kernel, and not an index: a count, a sum of elements. */
static bool counts_up(node *e, void *user)
{
  if (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--")))
    return e->a->kind == N_NAME && e->a->sym == user;
  return e->kind == N_ASSIGN && e->a->kind == N_NAME && e->a->sym == user &&
         (strcmp(e->op, "=") != 0 || port_find(e->b, is_computed, NULL));
}

static bool declare(nest *n, node *d, node ***out)
{
  node *s, *decl;
  poly p;

  make_local(n, d->sym);
  if (d->sym->type == T_POINTER) {
    if (!d->a) return true;
    port_walk(d, expand_pointers, NULL);
    port_walk(d->a, fix_subscripts, n);
    bind(d->sym, port_poly_bad(), d->a);
    return true;
  }
  if (d->a && is_integer(d->sym->type) && !port_find(n->whole, counts_up, d->sym)) {
    p = port_poly_of(n, d->a);
    if (!p.is_bad) {
      bind(d->sym, p, NULL);
      return true;
    }
  }
  if (d->a && d->a->kind == N_LIST) {
    for (node *k = d->a->list; k; k = k->next)
      if (k->kind != N_LIST && !resolve(n, k)) return false;
  } else if (!resolve(n, d->a))
    return false;
  if (d->sym->type != T_ARRAY && !is_number(d->sym->type))
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
  binding *b = bound(s);

  if (b) bind(s, port_poly_bad(), NULL);
}

static bool assign_name(nest *n, node *e, node ***out)
{
  symbol *s = e->a->sym;
  node *statement;
  poly p;

  if (s->type == T_POINTER && !strcmp(e->op, "=") && !w.branches) {
    port_walk(e, expand_pointers, NULL);
    port_walk(e->b, fix_subscripts, n);
    make_local(n, s);
    bind(s, port_poly_bad(), e->b);
    return true;
  }
  if (!is_number(s->type))
    return port_refuse(n, e, port_text("the nest changes '%s'", s->name), NULL);
  if (is_integer(s->type) && !w.branches && !w.ninner) {
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
    if (!p.is_bad && (bound(s) || !port_nest_is_local(n, s))) {
      bind(s, p, NULL);
      return true;
    }
  }
  if (w.branches || w.ninner) lose(s);
  if (bound(s) && !w.branches) { /* a number of the kernel from now on */
    for (int i = 0; i < w.nbindings; i++)
      if (w.bindings[i].sym == s) w.bindings[i].sym = NULL;
    statement = port_node(S_DECL, e);
    statement->list = port_node(N_DECL, e);
    statement->list->sym = s;
    statement->list->type = s->type;
    append(statement, out);
  }
  if (!resolve(n, e->b)) return false;
  make_local(n, s);
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
    return e->kind == N_CALL ? resolve(n, e)
                             : port_refuse(n, e, "this statement is not understood", NULL);
  if (e->b->kind == N_ASSIGN) { /* a = b = c */
    node *first = e->b, *copy = port_copy_tree(first->a);

    if (!expression(n, first, out)) return false;
    e->b = copy;
  }
  if (e->text) { /* a reduction */
    if (!resolve(n, e->b)) return false;
    s = port_node(S_EXPR, e);
    s->a = e;
    append(s, out);
    return true;
  }
  if (e->a->kind == N_NAME) return assign_name(n, e, out);
  if (!resolve(n, e->b) || !element(n, e->a, true, strcmp(e->op, "=") != 0)) return false;
  s = port_node(S_EXPR, e);
  s->a = e;
  append(s, out);
  return true;
}

static bool branch(nest *n, node *condition, bool is_true, node *b, node **out)
{
  const int nbindings = w.nbindings;
  node *block = port_node(S_BLOCK, b), **tail = &block->list;
  const symbol *lost[32];
  int nlost = 0;

  if (!port_refine_push()) return port_refuse(n, b, "conditions are nested too deeply", NULL);
  port_refine_condition(n, condition, is_true);
  w.branches++;
  if (!statements(n, b->kind == S_BLOCK ? b->list : b, &tail)) return false;
  w.branches--;
  port_refine_pop();
  for (int i = nbindings; i < w.nbindings && nlost < 32; i++)
    if (w.bindings[i].sym && w.bindings[i].value.is_bad && !w.bindings[i].is_tree)
      lost[nlost++] = w.bindings[i].sym;
  w.nbindings = nbindings;
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
      strcmp(then->a->op, "=") || then->a->text || then->a->a->kind != N_NAME || w.branches ||
      w.ninner)
    return false;
  b = bound(then->a->a->sym);
  if (!b || b->is_tree || b->value.is_bad) return false;
  choice = port_node(N_COND, s);
  choice->type = T_I32;
  choice->a = s->a;
  choice->b = then->a->b;
  choice->c = then->a->a;
  p = port_poly_of(n, choice);
  if (p.is_bad) return false;
  bind(then->a->a->sym, p, NULL);
  return true;
}

static bool conditional(nest *n, node *s, node ***out)
{
  node *copy = port_node(S_IF, s), *condition = port_copy_tree(s->a);

  if (guards_index(n, s)) return true;
  if (!resolve(n, s->a)) return false;
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
  const int nbindings = w.nbindings;
  poly var = port_poly_atom(l->atom);

  if (!port_loop_is_short(l))
    return port_refuse(n, f, "this loop is neither over cells nor over a small number known here",
                       "sums over a whole axis need a nest of their own");
  make_local(n, l->var);
  bind(l->var, var, NULL);
  if (w.ninner == LOOPS) return port_refuse(n, f, "there are too many loops", NULL);
  w.inner[w.ninner++] = l->atom;
  if (n->ninner == 32) return port_refuse(n, f, "there are too many loops", NULL);
  n->inner[n->ninner++] = *l;
  if (!statements(n, f->d->kind == S_BLOCK ? f->d->list : f->d, &tail)) return false;
  w.ninner--;
  w.nbindings = nbindings;
  copy->sym = l->var;
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

static void add_leaf(nest *n, node *body)
{
  leaf *l;

  if (!port_find(body, has_effect, NULL)) return;
  l = port_new(sizeof *l);
  l->nloops = w.nloops;
  memcpy(l->loops, w.loops, sizeof l->loops);
  l->body = body;
  if (n->last_leaf)
    n->last_leaf->next = l;
  else
    n->leaves = l;
  n->last_leaf = l;
}

/* The declarations and assignments to variables of an outer depth, for the kernels of inner ones. */
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

static bool enter(nest *n, node *s, loop *l, node **prefix);

/* Statements between loops over cells; those before a loop are part of its kernel, too. */
static bool cells(nest *n, node *list, const node *prefix)
{
  node *block = prefix_block(prefix ? prefix->list : NULL, list), **tail = end_of(block);

  for (node *s = list, *next; s; s = next) {
    loop l;

    next = s->next;
    if (s->kind == S_BLOCK && s == list && !next) return cells(n, s->list, prefix);
    if (s->kind == S_FOR && !port_loop_header(n, s, &l)) return false;
    if (s->kind == S_FOR && port_loop_is_cells(n, s, &l)) {
      add_leaf(n, block);
      block = prefix_block(block->list, s);
      tail = end_of(block);
      if (!enter(n, s, &l, &block)) return false;
      continue;
    }
    s->next = NULL;
    if (!statements(n, s, &tail)) return false;
  }
  add_leaf(n, block);
  return true;
}

static bool enter(nest *n, node *s, loop *l, node **prefix)
{
  const int nbindings = w.nbindings;

  if (n->nloops == LOOPS) return port_refuse(n, s, "the nest has too many loops", NULL);
  l->is_outside = !(s->a && s->a->kind == S_DECL) && !port_nest_is_local(n, l->var);
  make_local(n, l->var);
  n->loops[n->nloops] = *l;
  bind(l->var, port_poly_atom(l->atom), NULL);
  w.loops[w.nloops++] = n->nloops++;
  if (!cells(n, s->d->kind == S_BLOCK ? s->d->list : s->d, *prefix)) return false;
  w.nloops--;
  w.nbindings = nbindings;
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

static bool note_assigned(node *e, void *user)
{
  node *target = NULL;

  (void)user;
  if (e->kind == N_ASSIGN) target = e->a;
  if (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--"))) target = e->a;
  if (e->kind == N_ASSIGN && e->text) return true; /* a reduction */
  if (target && target->kind == N_NAME && !is_assigned(target->sym) && w.nassigned < ASSIGNED)
    w.assigned[w.nassigned++] = target->sym;
  return true;
}

bool port_nest_open(nest *n)
{
  loop l;

  memset(&w, 0, sizeof w);
  port_refine_reset();
  n->copy = port_copy_tree(n->node);
  if (!port_inline(n)) return false;
  port_loop_continue(n->copy);
  port_walk(n->copy, note_assigned, NULL);
  if (!port_loop_header(n, n->copy, &l)) return false;
  if (!port_loop_is_cells(n, n->copy, &l))
    return port_refuse(
        n, n->node, "the loop is not over cells: its variable is in no subscript that is written",
        NULL);
  n->is_cells = true;
  w.nassigned = 0;
  if (!port_scalars(n)) return false;
  n->whole = port_copy_tree(n->copy);
  port_walk(n->copy, note_assigned, NULL);
  return cells(n, n->copy, NULL) &&
         (n->leaves || port_refuse(n, n->node, "the nest has no effect", NULL));
}
