/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c - indices that a guard keeps inside an array.
 *
 *   (i + 1) % n     (i - 1 + n) % n     (i + n - 1) % n       periodic
 *   i == 0 ? n - 1 : i - 1              i == n - 1 ? 0 : i + 1
 *   i == 0 ? 0 : i - 1                  i < n - 1 ? i + 1 : n - 1    clamp; and max(i - 1, 0)
 *   north[i]                            a table: which of them is found at run time
 */
#include "nest.h"

#include <string.h>

const guard *port_guard_of(const nest *n, int atom)
{
  for (int i = 0; i < n->nguards; i++)
    if (n->guards[i].atom == atom) return &n->guards[i];
  return NULL;
}

/* Variables of different loops may have one name: the number of the guard makes its atom unique. */
static poly make(nest *n, poly inner, bool is_periodic, poly extent)
{
  guard g = {.inner = inner, .asked = inner, .is_periodic = is_periodic, .n = extent};

  for (int i = 0; i < n->nguards; i++)
    if (n->guards[i].is_periodic == is_periodic && port_poly_equal(n->guards[i].asked, inner) &&
        port_poly_equal(n->guards[i].n, extent))
      return port_poly_atom(n->guards[i].atom);
  if (n->nguards == 64) return port_poly_bad();
  g.atom =
      port_atom_of_text(port_text("%s{%s|%s}%d", is_periodic ? "periodic" : "clamp",
                                  port_poly_print(inner), port_poly_print(extent), n->nguards));
  n->guards[n->nguards++] = g;
  return port_poly_atom(g.atom);
}

/* The loop whose variable is in p, alone and once. */
static const loop *only_loop(const nest *n, poly p, poly *shift)
{
  const loop *found = NULL;

  for (int k = 0; k < n->nloops; k++) {
    poly c, r;
    int64_t x;

    if (!port_poly_has(p, n->loops[k].atom)) continue;
    if (found || !port_poly_split(p, n->loops[k].atom, &c, &r) || !port_poly_is_number(c, &x) ||
        x != 1)
      return NULL;
    found = &n->loops[k];
    *shift = r;
  }
  return found;
}

/* (i + c) % n, where i + c is not negative and less than 2 n. */
static poly modulo(nest *n, node *e)
{
  poly a = port_poly_of(n, e->a), m = port_poly_of(n, e->b), shift, diff;
  const loop *l;
  int64_t x, by;

  if (a.is_bad || m.is_bad || !(l = only_loop(n, a, &shift))) return port_poly_bad();
  if (!port_poly_is_number(port_poly_sub(l->hi, m), &x) || x > 0)
    return port_poly_bad(); /* i < n */
  if (!port_poly_is_number(l->lo, &x) || x < 0) return port_poly_bad();
  if (port_poly_is_number(shift, &x) && port_poly_is_number(m, &by) && x >= 0 && by > 0) {
    x = x % by > by / 2 ? x % by - by : x % by; /* (i + 1 + 9) % 9 */
    a = port_poly_add(port_poly_atom(l->atom), port_poly_number(x));
    return x ? make(n, a, true, m) : a;
  }
  diff = port_poly_sub(shift, m);
  if (!shift.n || (!diff.is_bad && !diff.n)) return port_poly_atom(l->atom); /* (i + n) % n is i */
  if (port_poly_is_number(shift, &x) && x >= 0)                              /* (i + 1) % n */
    return make(n, a, true, m);
  if (port_poly_is_number(diff, &x) && !port_poly_is_number(m, NULL)) /* (i - 1 + n) % n */
    return make(n, port_poly_sub(a, m), true, m);
  return port_poly_bad();
}

/* The meaning of a guard's condition: i is at an end where it holds, or everywhere but there. */
typedef struct at_end {
  bool is_low; /* i == lo, else i == hi - 1 */
  bool holds_at_end;
  bool is_loose; /* one cell further in as well: max(i - 1, 0) says so, and means the same */
} at_end;

/* A truth of an integer as a comparison: i ? i - 1 : 0, and !i. */
static node *comparison(node *c)
{
  const bool is_not = c->kind == N_UNARY && !strcmp(c->op, "!");
  node *compared;

  if (c->kind == N_BINARY || !port_is_integer((is_not ? c->a : c)->type)) return c;
  compared = port_node(N_BINARY, c);
  compared->op = is_not ? "==" : "!=";
  compared->a = is_not ? c->a : c;
  compared->b = port_number(0, c);
  compared->type = T_I32;
  return compared;
}

static bool read_condition(nest *n, node *c, const loop *l, at_end *e)
{
  poly a, b, d, zero = {0};
  const char *op;
  int64_t x;

  c = comparison(c);
  if (c->kind != N_BINARY) return false;
  a = port_poly_of(n, c->a);
  b = port_poly_of(n, c->b);
  if (a.is_bad || b.is_bad) return false;
  op = c->op;
  d = port_poly_sub(a, b); /* op 0 */
  {
    poly k, r;

    if (!port_poly_split(d, l->atom, &k, &r) || !port_poly_is_number(k, &x)) return false;
    if (x == -1) { /* b - a, the other way round */
      d = port_poly_sub(zero, d);
      op = !strcmp(op, "<")    ? ">"
           : !strcmp(op, ">")  ? "<"
           : !strcmp(op, "<=") ? ">="
           : !strcmp(op, ">=") ? "<="
                               : op;
    } else if (x != 1)
      return false;
    port_poly_split(d, l->atom, &k, &r);
    /* i + r op 0: i op -r */
    r = port_poly_sub(zero, r);
    if (!strcmp(op, "<") || !strcmp(op, ">=")) { /* i < r: as i <= r - 1 */
      r = port_poly_sub(r, port_poly_number(1));
      op = op[0] == '<' ? "<=" : ">";
    }
    /* Now: ==, !=, i <= r or i > r. */
    if (!strcmp(op, "==") || !strcmp(op, "!=")) {
      if (port_poly_equal(r, l->lo))
        e->is_low = true;
      else if (port_poly_equal(port_poly_add(r, port_poly_number(1)), l->hi))
        e->is_low = false;
      else
        return false;
      e->holds_at_end = op[0] == '=';
      return true;
    }
    if (strcmp(op, "<=") && strcmp(op, ">")) return false;
    if (port_poly_equal(r, l->lo) ||
        port_poly_equal(r, port_poly_add(l->lo, port_poly_number(1)))) { /* i > lo; i - 1 > lo */
      e->is_loose = !port_poly_equal(r, l->lo);
      e->is_low = true;
      e->holds_at_end = op[0] == '<';
      return true;
    }
    if (port_poly_equal(port_poly_add(r, port_poly_number(2)), l->hi) ||
        port_poly_equal(port_poly_add(r, port_poly_number(3)),
                        l->hi)) { /* i <= hi - 2; i + 1 <= hi - 2 */
      e->is_loose = !port_poly_equal(port_poly_add(r, port_poly_number(2)), l->hi);
      e->is_low = false;
      e->holds_at_end = op[0] == '>';
      return true;
    }
  }
  return false;
}

static poly with_value(poly p, const loop *l, poly x)
{
  poly c, r;

  if (!port_poly_split(p, l->atom, &c, &r)) return port_poly_bad();
  return port_poly_add(port_poly_mul(c, x), r);
}

/* i == 0 ? n - 1 : i - 1, flattened or not: inside, the index is s * (i - 1) + rest; at the end it
 * is s more (clamp), or n * s more (periodic). At the high end it is less. */
static poly choice_of(nest *n, node *e, poly yes, poly no, const loop *l)
{
  const poly extent = port_poly_sub(l->hi, l->lo), one = port_poly_number(1);
  at_end end = {false, false, false};
  poly inner, last, x, diff, stride, rest, moved, g;
  int64_t lo;

  if (!read_condition(n, e->a, l, &end)) return port_poly_bad();
  if (!port_poly_is_number(l->lo, &lo) || lo) return port_poly_bad(); /* the whole axis */
  inner = end.holds_at_end ? no : yes;
  last = end.holds_at_end ? yes : no;
  if (!port_poly_split(inner, l->atom, &stride, &rest) || !stride.n) return port_poly_bad();
  x = end.is_low ? l->lo : port_poly_sub(l->hi, one);
  diff = port_poly_sub(with_value(last, l, x), with_value(inner, l, x));
  if (!end.is_low) diff = port_poly_sub(port_poly_number(0), diff);
  moved = port_poly_add(port_poly_atom(l->atom), port_poly_number(end.is_low ? -1 : 1));
  if (port_poly_equal(diff, stride))
    g = make(n, moved, false, l->hi);
  else if (port_poly_equal(diff, port_poly_mul(stride, extent)) && !end.is_loose)
    g = make(n, moved, true, l->hi);
  else
    return port_poly_bad();
  return port_poly_add(port_poly_mul(stride, g),
                       port_poly_sub(inner, port_poly_mul(stride, moved)));
}

/* The index that a clamp keeps inside: i + 2. */
static poly unclamped(const nest *n, poly p)
{
  for (int k = 0; k < n->nguards; k++) {
    const guard *g = &n->guards[k];
    poly c, r;
    int64_t x;

    if (port_poly_has(p, g->atom) && !g->is_periodic && !g->by &&
        port_poly_split(p, g->atom, &c, &r) && port_poly_is_number(c, &x) && x == 1)
      return port_poly_add(r, g->inner);
  }
  return p;
}

/* v < 0 ? 0 : v, and v > n - 1 ? n - 1 : v, where v is i + 2 or a clamp of that; also as max and
 * min. */
static poly clamped(nest *n, node *e, poly yes, poly no)
{
  const node *c = e->a;
  const bool is_pair =
      c->kind == N_BINARY && strchr("<>", c->op[0]) && (!c->op[1] || c->op[1] == '=');
  const poly a = is_pair ? unclamped(n, port_poly_of(n, c->a)) : port_poly_bad(),
             b = is_pair ? unclamped(n, port_poly_of(n, c->b)) : port_poly_bad();
  const char *op = c->op;
  const loop *l;
  poly shift, last, inside, end;
  int64_t by, over, lo;
  bool is_less, is_low;

  if (a.is_bad || b.is_bad) return port_poly_bad();
  if (!(l = only_loop(n, port_poly_sub(a, b), &shift))) { /* 0 < v */
    op = port_mirrored(op);
    if (!(l = only_loop(n, port_poly_sub(b, a), &shift))) return port_poly_bad();
  }
  inside = only_loop(n, unclamped(n, no), &last) == l ? no : yes;
  end = port_poly_equal(inside, no) ? yes : no;
  is_less = op[0] == '<';
  is_low = is_less == port_poly_equal(end, yes);
  if (only_loop(n, unclamped(n, inside), &last) != l || !port_poly_is_number(last, &by) ||
      !port_poly_is_number(l->lo, &lo) || lo ||
      !port_poly_equal(end, is_low ? l->lo : port_poly_sub(l->hi, port_poly_number(1))))
    return port_poly_bad();
  /* It is v <= end, or v <= end - 1, or the opposite of these. */
  if (!port_poly_is_number(port_poly_add(port_poly_sub(shift, last), end), &over))
    return port_poly_bad();
  over = -over - (is_less != (op[1] == '='));
  if (over != 0 && over != -1) return port_poly_bad();
  if (is_low ? by >= 0 : by <= 0) return inside;
  return port_poly_equal(inside, unclamped(n, inside)) ? make(n, inside, false, l->hi) : inside;
}

static poly choice(nest *n, node *e)
{
  const poly yes = port_poly_of(n, e->b), no = port_poly_of(n, e->c);

  for (int k = 0; k < n->nloops && !yes.is_bad && !no.is_bad; k++) {
    const poly p = choice_of(n, e, yes, no, &n->loops[k]);

    if (!p.is_bad) return p;
  }
  return yes.is_bad || no.is_bad ? port_poly_bad() : clamped(n, e, yes, no);
}

static bool is_written(node *e, void *user)
{
  const node *table = user;

  return e->kind == N_ASSIGN && e->a->kind == N_INDEX &&
         !strcmp(port_print(e->a->a), port_print(table));
}

/* north[i]: a distance that is found at run time, like the variable of a loop that runs once. */
static poly neighbour(nest *n, node *e)
{
  const poly index = port_poly_of(n, e->b);
  poly shift, g;
  const loop *l;
  symbol *by;
  guard *made;
  int count = n->nguards;

  if (!port_is_steady(n, e->a) || index.is_bad || !(l = only_loop(n, index, &shift)) ||
      port_find(n->whole, is_written, e->a) || n->ninner == 32)
    return port_poly_bad();
  g = make(n, port_poly_atom(port_atom_of_text(port_print(e))), false, l->hi);
  if (g.is_bad || n->nguards == count) return g;
  made = &n->guards[n->nguards - 1];
  by = port_new(sizeof *by);
  *by = (symbol){.name = "to", .type = T_I32};
  for (const char *c = port_print(e->a); *c; c++)
    by->name = port_text("%s%c", by->name,
                         *c == '_' || (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
                                 (*c >= 'A' && *c <= 'Z')
                             ? *c
                             : '_');
  made->by = by;
  made->table = port_text("&%s[%s]", port_print(e->a), port_poly_code(shift));
  made->inner = port_poly_add(port_poly_atom(l->atom), port_poly_atom(port_atom_of(by)));
  n->inner[n->ninner++] = (loop){.var = by,
                                 .atom = port_atom_of(by),
                                 .lo = port_poly_number(-1),
                                 .hi = port_poly_number(2),
                                 .step = 1};
  return g;
}

poly port_guard_poly(nest *n, node *e)
{
  if (e->kind == N_INDEX && (e->type == T_I32 || e->type == T_I64) &&
      (e->a->kind == N_NAME || e->a->kind == N_MEMBER))
    return neighbour(n, e);
  if (e->kind == N_BINARY && !strcmp(e->op, "%")) return modulo(n, e);
  if (e->kind == N_COND) return choice(n, e);
  return port_poly_bad();
}
