/* SPDX-License-Identifier: BSD-3-Clause */
/* resolve.c - names, integers and elements of arrays in the expressions of a nest.
 *
 * A name may be bound to a polynomial or a pointer; anything else is a number of the kernel.
 * Elements become accesses, with the subscripts they have at this place of the walk.
 */
#include "walk.h"

#include <string.h>

walk_state port_state;

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

void port_make_local(nest *n, symbol *s)
{
  if (!port_nest_is_local(n, s) && n->nlocals < 256) n->locals[n->nlocals++] = s;
}

bool port_is_assigned(const symbol *s)
{
  for (int i = 0; i < port_state.nassigned; i++)
    if (port_state.assigned[i] == s) return true;
  return false;
}

loop *port_nest_loop(nest *n, int atom)
{
  for (int i = 0; i < n->nloops; i++)
    if (n->loops[i].atom == atom) return &n->loops[i];
  return NULL;
}

binding *port_bound(const symbol *s)
{
  for (int i = port_state.nbindings - 1; i >= 0; i--)
    if (port_state.bindings[i].sym == s) return &port_state.bindings[i];
  return NULL;
}

void port_bind(const symbol *s, poly value, node *tree)
{
  if (port_state.nbindings == BINDINGS) return;
  port_state.bindings[port_state.nbindings++] = (binding){s, tree != NULL, value, tree};
}

bool port_is_number(value_type t)
{
  return t <= T_INTEGER;
}

/* ---- polynomials ---- */

static bool varies(node *e, void *user)
{
  nest *n = user;

  if (e->kind == N_NAME)
    return port_is_assigned(e->sym) || port_nest_is_local(n, e->sym) || port_bound(e->sym);
  return e->kind == N_ASSIGN || e->kind == N_CALL || e->kind == N_OPAQUE ||
         (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--")));
}

bool port_is_steady(nest *n, node *e)
{
  return !port_find(e, varies, n);
}

static poly power_of_two(nest *n, const node *e, poly a)
{
  int64_t x;

  if (!port_poly_is_number(port_poly_of(n, e->b), &x) || x < 0 || x > 40) return port_poly_bad();
  return port_poly_mul(a, port_poly_number((int64_t)1 << x));
}

/* Whether r is a sum of multiples of loop variables, all counted from 0, that stays below by. */
static bool is_remainder(const nest *n, poly r, poly by)
{
  poly most = {0}, c;
  int64_t x;

  if (r.is_bad || !r.n) return false;
  for (int k = 0; k < n->nloops; k++) {
    const loop *l = &n->loops[k];

    if (!port_poly_has(r, l->atom)) continue;
    if (!port_poly_split(r, l->atom, &c, &r) || l->lo.n || l->lo.is_bad) return false;
    most = port_poly_add(most, port_poly_mul(c, port_poly_sub(l->hi, port_poly_number(1))));
  }
  return !r.n && port_poly_is_number(port_poly_sub(by, most), &x) && x > 0;
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
    if (is_remainder(n, r, b)) return q; /* (y * nx + x) / nx */
    break;
  case '%':
    if (port_poly_is_number(a, &x) && port_poly_is_number(b, &y) && y)
      return port_poly_number(x % y);
    port_poly_divide(a, b, &q, &r);
    if (q.n && is_remainder(n, r, b)) return r;
    break;
  default: break;
  }
  return port_poly_bad();
}

poly port_poly_of(nest *n, node *e)
{
  poly p = port_poly_bad();
  binding *b;
  node *value;

  e = port_bare(e);
  if (e->poly) return *e->poly;
  if (e->is_constant) return port_poly_number(e->value);
  if (!port_is_integer(e->type)) return p;
  if (e->kind == N_NAME) {
    b = port_bound(e->sym);
    if (b) return b->is_tree ? p : b->value;
    if (port_nest_is_local(n, e->sym) || port_is_assigned(e->sym)) return p;
    return port_poly_atom(port_atom_of(e->sym));
  }
  if (e->kind == N_INDEX && (value = port_table_value(n, e))) return port_poly_of(n, value);
  if (e->kind == N_BINARY) p = binary_poly(n, e);
  if (e->kind == N_UNARY && !strcmp(e->op, "-"))
    p = port_poly_sub(port_poly_number(0), port_poly_of(n, e->a));
  if (e->kind == N_UNARY && !strcmp(e->op, "+")) p = port_poly_of(n, e->a);
  if (!p.is_bad) return p;
  e = port_copy_tree(e); /* s->nx, where s is bound to a pointer of the function */
  port_walk(e, port_expand_pointers, NULL);
  p = port_guard_poly(n, e);
  if (!p.is_bad) return p;
  return port_find(e, varies, n) ? p : port_poly_atom(port_atom_of_text(port_print(e)));
}

/* ---- expressions ---- */

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
  binding *b = e && e->kind == N_NAME ? port_bound(e->sym) : NULL;
  node *copy;

  if (!b || !b->is_tree) return e;
  copy = port_copy_tree(b->tree);
  copy->next = e->next;
  return copy;
}

bool port_expand_pointers(node *e, void *user)
{
  (void)user;
  e->a = expanded(e->a);
  e->b = expanded(e->b);
  e->c = expanded(e->c);
  e->d = expanded(e->d);
  for (node **k = &e->list; *k; k = &(*k)->next)
    *k = expanded(*k);
  if (e->kind == N_MEMBER && e->op[0] == '-' && e->a->kind == N_UNARY && e->a->op[0] == '&') {
    e->op = "."; /* (&g)->u */
    e->a = e->a->a;
  }
  return true;
}

/* Subscripts keep the value they have now. */
bool port_fix_subscripts(node *e, void *user)
{
  nest *n = user;
  poly p;

  if (port_is_integer(e->type) && !e->poly && e->kind != N_INDEX && e->kind != N_MEMBER) {
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
    for (int k = 0; k < port_state.ninner; k++)
      if (port_poly_has(a->subs[i], port_state.inner[k])) return false;
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
    for (int k = 0; k < port_state.ninner; k++)
      if (port_poly_has(a->subs[i], port_state.inner[k])) return true;
  return false;
}

/* w[k + 1], where k is the variable of a short loop: a constant table becomes part of the kernel.
 */
static bool table(nest *n, node *e, access *a)
{
  symbol *root = a->array->root;

  if (!port_is_table(n->unit, root) || e->kind != N_INDEX)
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
  poly *from, *to;

  port_refine_copy(n, &from, &to);
  for (int k = 0; k < n->nloops; k++)
    if (port_poly_equal(port_poly_sub(to[k], from[k]), port_poly_number(1))) return true;
  return false;
}

static bool names_short(node *e, void *user)
{
  const nest *n = user;

  for (int i = 0; i < n->ninner && e->kind == N_NAME; i++)
    if (n->inner[i].var == e->sym) return true;
  return false;
}

static bool names_cells(node *e, void *user)
{
  const nest *n = user;

  for (int i = 0; i < n->nloops && e->kind == N_NAME; i++)
    if (n->loops[i].var == e->sym) return true;
  return false;
}

/* cx[q] of a constant table, where q is the variable of a short loop over planes: written out, it
 * is a number. */
static bool is_offset_of_plane(node *e, void *user)
{
  const nest *n = user;
  const node *at = e->kind == N_INDEX ? port_bare(e->b) : e;

  if (e->kind != N_INDEX || e->a->kind != N_NAME || at->kind != N_NAME) return false;
  for (int i = 0; i < n->nloops; i++)
    if (n->loops[i].var == at->sym && port_loop_is_short(&n->loops[i]))
      return port_is_table(n->unit, e->a->sym);
  return false;
}

bool port_element(nest *n, node *e, bool is_write, bool is_read)
{
  access *a;

  port_walk(e, port_expand_pointers, NULL);
  if (root_of(e)->kind == N_NAME && port_nest_is_local(n, root_of(e)->sym) &&
      !port_line_of(n, root_of(e)->sym)) { /* a table of the kernel */
    if (e->kind != N_INDEX) return port_refuse(n, e, "this is not an element of an array", NULL);
    for (node *k = e; k->kind == N_INDEX; k = k->a) {
      const poly p = port_poly_of(n, k->b);

      for (int i = 0; i < n->nloops; i++)
        if (port_poly_has(p, n->loops[i].atom))
          return port_refuse(
              n, e, port_text("'%s' keeps a value for each cell of a line", root_of(e)->sym->name),
              "nests between arrays of all cells would run in parallel");
      if (!port_resolve(n, k->b)) return false;
    }
    return true;
  }
  if (!is_write && (a = port_lookup_of(n, e))) {
    if (!n->is_unrolled && ((port_find(e, names_short, n) && port_find(e, names_cells, n)) ||
                            port_find(e, is_offset_of_plane, n)))
      return port_refuse(n, e, "the subscript is not linear in the loop variables",
                         "indices that are kept inside an array by min and max are understood");
    for (int l = 0; l < a->nsubs; l++)
      if (!port_resolve(n, a->subs_text[l])) return false;
    e->access = a;
    return true;
  }
  if (!(a = port_access_of(n, e))) return false;
  if (!is_write && is_invariant(n, a) &&
      !(a->nsubs && is_pinned(n))) { /* a number that all cells share */
    if (port_table_value(n, e)) return table(n, e, a);
    e->access = a;
    a->is_value = true;
    return true;
  }
  if (!is_write && only_inner(n, a)) return table(n, e, a);
  if (n->naccesses == MOST_ACCESSES) return port_refuse(n, e, "the nest is too long", NULL);
  a->is_write = is_write;
  a->is_read = is_read;
  a->order = port_state.order++;
  a->is_sure = !port_state.branches && !port_state.ninner;
  a->leaf = port_state.leaf;
  port_refine_copy(n, &a->from, &a->to);
  a->nfrom = n->nloops;
  e->access = a;
  n->accesses[n->naccesses++] = a;
  return true;
}

bool port_is_function(const char *name)
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
  binding *b = port_bound(e->sym);

  if (b && !b->is_tree) {
    if (b->value.is_bad)
      return port_refuse(
          n, e, port_text("'%s' is not known here: a condition changed it", e->sym->name), NULL);
    e->poly = port_new(sizeof *e->poly);
    *e->poly = b->value;
    return true;
  }
  if (b || !port_is_number(e->type))
    return port_refuse(n, e, port_text("'%s' is not a number", e->sym->name), NULL);
  return true;
}

/* Either side of a choice is computed only where its condition says so. */
static bool resolve_where(nest *n, node *condition, bool is_true, node *e)
{
  bool ok;

  if (!port_refine_push()) return port_resolve(n, e);
  port_refine_condition(n, condition, is_true);
  ok = port_resolve(n, e);
  port_refine_pop();
  return ok;
}

bool port_resolve(nest *n, node *e)
{
  if (!e) return true;
  switch (e->kind) {
  case N_NUMBER: return true;
  case N_NAME: return resolve_name(n, e);
  case N_BINARY:
    if (!strcmp(e->op, "&&") || !strcmp(e->op, "||"))
      return port_resolve(n, e->a) && resolve_where(n, e->a, e->op[0] == '&', e->b);
    return port_resolve(n, e->a) && port_resolve(n, e->b);
  case N_COND:
    return port_resolve(n, e->a) && resolve_where(n, e->a, true, e->b) &&
           resolve_where(n, e->a, false, e->c);
  case N_CAST: return port_resolve(n, e->a);
  case N_INDEX:
  case N_MEMBER: return port_element(n, e, false, true);
  case N_UNARY:
    if (e->op[0] == '*') return port_element(n, e, false, true);
    if (strchr("-+!~", e->op[0]) && !e->op[1]) return port_resolve(n, e->a);
    return port_refuse(n, e, "an expression changes a variable or takes an address",
                       "write it as a statement of its own");
  case N_CALL:
    if (!port_is_function(e->text))
      return port_refuse(
          n, e,
          port_text("the nest calls '%s', whose effect is not known",
                    e->text[0] ? e->text : "a function"),
          "functions of <math.h> and functions with a body in this program that only "
          "compute are understood");
    for (node *k = e->list; k; k = k->next)
      if (!port_resolve(n, k)) return false;
    return true;
  case N_ASSIGN:
    return port_refuse(n, e, "an assignment stands inside an expression",
                       "write it as a statement of its own");
  default: return port_refuse(n, e, "this expression is not understood", NULL);
  }
}
