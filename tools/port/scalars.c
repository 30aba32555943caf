/* SPDX-License-Identifier: BSD-3-Clause */
/* scalars.c - variables of the function that a nest assigns to.
 *
 * Each is one of: a reduction (s += x, if (x > m) m = x, m = fmax(m, x), m = x > m ? x : m), or a
 * flag (flags.c), if the nest does nothing else with it; a temporary, if every use in the nest
 * stands behind an assignment of the same cell, and nothing uses it after the nest (live.c); or a
 * reason to leave the nest serial.
 */
#include "nest.h"

#include <string.h>

typedef struct tally {
  const symbol *sym;
  int n;
} tally;

static bool count_use(node *e, void *user)
{
  tally *u = user;

  u->n += e->kind == N_NAME && e->sym == u->sym;
  return true;
}

static int count(node *n, const symbol *s)
{
  tally u = {s, 0};

  port_walk(n, count_use, &u);
  return u.n;
}

static bool same(const node *a, const node *b)
{
  return !strcmp(port_print(a), port_print(b));
}

static bool is_name(const node *e, const symbol *s)
{
  return e && e->kind == N_NAME && e->sym == s;
}

/* ---- reductions ---- */

static node *reduce(node *e, const char *kind, node *value)
{
  e->text = kind;
  e->b = value;
  e->op = "=";
  return e;
}

static node *negative(node *x)
{
  node *n = port_node(N_UNARY, x);

  n->op = "-";
  n->a = x;
  n->type = x->type == T_U8 || x->type == T_I16 || (x->type >= T_BOOL && x->type <= T_U16)
                ? T_I32
                : x->type;
  n->ctype = x->ctype;
  return n;
}

/* x > m ? x : m and its kin: the kind of reduction and the term. */
static const char *choice(const node *e, const symbol *s, node **value)
{
  const node *c = e->a, *x, *yes = e->b, *no = e->c;
  bool s_left, is_less;

  if (c->kind != N_BINARY || (c->op[0] != '<' && c->op[0] != '>')) return NULL;
  s_left = is_name(c->a, s);
  x = s_left ? c->b : c->a;
  if ((!s_left && !is_name(c->b, s)) || count((node *)(uintptr_t)x, s)) return NULL;
  is_less = (c->op[0] == '<') != s_left; /* x < s */
  if (is_name(no, s) && same(yes, x)) {
    *value = (node *)(uintptr_t)yes;
    return is_less ? "min" : "max";
  }
  if (is_name(yes, s) && same(no, x)) {
    *value = (node *)(uintptr_t)no;
    return is_less ? "max" : "min";
  }
  return NULL;
}

static bool reduces_assignment(node *e, const symbol *s)
{
  node *v = e->b, *value;
  const char *kind;

  if (!is_name(e->a, s)) return false;
  if (!strcmp(e->op, "+=") && !count(v, s)) return reduce(e, "sum", v);
  if (!strcmp(e->op, "-=") && !count(v, s)) return reduce(e, "sum", negative(v));
  if (strcmp(e->op, "=")) return false;
  if (v->kind == N_BINARY && v->op[0] == '+' && !v->op[1]) {
    if (is_name(v->a, s) && !count(v->b, s)) return reduce(e, "sum", v->b);
    if (is_name(v->b, s) && !count(v->a, s)) return reduce(e, "sum", v->a);
  }
  if (v->kind == N_BINARY && v->op[0] == '-' && is_name(v->a, s) && !count(v->b, s))
    return reduce(e, "sum", negative(v->b));
  if (v->kind == N_COND && (kind = choice(v, s, &value))) return reduce(e, kind, value);
  if (v->kind == N_CALL && (!strncmp(v->text, "fmax", 4) || !strncmp(v->text, "fmin", 4)) &&
      v->list && v->list->next) {
    node *x = v->list, *y = v->list->next;

    kind = v->text[2] == 'a' ? "max" : "min";
    if (is_name(x, s) && !count(y, s)) return reduce(e, kind, y);
    if (is_name(y, s) && !count(x, s)) return reduce(e, kind, x);
  }
  return false;
}

/* if (x > m) m = x; */
static node *reduces_if(node *f, const symbol *s)
{
  node *then = f->b, *value, choose = {.kind = N_COND},
       keep = {.kind = N_NAME, .sym = (symbol *)(uintptr_t)s, .text = s->name};
  const char *kind;

  if (f->c || !then) return NULL;
  if (then->kind == S_BLOCK && then->list && !then->list->next) then = then->list;
  if (then->kind != S_EXPR || then->a->kind != N_ASSIGN || strcmp(then->a->op, "=") ||
      !is_name(then->a->a, s) || then->a->text)
    return NULL;
  choose.a = f->a;
  choose.b = then->a->b;
  choose.c = &keep;
  kind = choice(&choose, s, &value);
  return kind ? reduce(then->a, kind, value) : NULL;
}

typedef struct reducing {
  symbol *sym;
  int found; /* uses that are part of reductions */
} reducing;

/* A statement of its own: v[i] = (s += x) uses the sum so far. */
static void reduces_statement(node *e, reducing *r)
{
  const int before = count(e, r->sym);

  while (e->kind == N_CAST)
    e = e->a;
  if (e->kind == N_BINARY && !strcmp(e->op, ",")) {
    reduces_statement(e->a, r);
    reduces_statement(e->b, r);
  } else if (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--")) &&
             is_name(e->a, r->sym)) {
    e->kind = N_ASSIGN;
    e->b = port_number(strstr(e->op, "++") ? 1 : -1, e);
    reduce(e, "sum", e->b);
    r->found++;
  } else if (e->kind == N_ASSIGN && before &&
             (reduces_assignment(e, r->sym) || port_flag(e, r->sym)))
    r->found += before;
}

static bool find_reductions(node *e, void *user)
{
  reducing *r = user;
  int before;

  if (e->kind == S_IF && (before = count(e, r->sym)) > 0) {
    node *a = reduces_if(e, r->sym);

    if (a) {
      r->found += before;
      e->kind = S_EXPR;
      e->a = a;
      e->b = e->c = NULL;
      return false;
    }
  }
  if (e->kind == S_EXPR) {
    reduces_statement(e->a, r);
    return false;
  }
  return true;
}

/* Bits may be set by several assignments; any other flag gets one value only. */
static const node *first_of_kind;
static bool kinds_differ(node *e, void *user)
{
  if (e->kind != N_ASSIGN || !e->text || !is_name(e->a, user)) return false;
  if (!first_of_kind) first_of_kind = e;
  return strcmp(first_of_kind->text, e->text) != 0 || strcmp(first_of_kind->op, e->op) != 0 ||
         (!strcmp(e->op, "=") && !port_same_reduction(first_of_kind, e));
}

bool port_same_reduction(const node *a, const node *b)
{
  return a->a->sym == b->a->sym && !a->c == !b->c && (!a->c || same(a->c, b->c)) && !a->d == !b->d;
}

/* Works on a copy first, since a nest with other uses must stay as it was. */
static bool is_reduction(nest *n, symbol *s)
{
  reducing r = {s, 0};
  node *copy;

  if (s->type > T_INTEGER) return false;
  copy = port_copy_tree(n->copy);
  port_walk(copy, find_reductions, &r);
  first_of_kind = NULL;
  if (r.found != count(n->copy, s) || port_find(copy, kinds_differ, s)) return false;
  n->copy = copy;
  return true;
}

/* ---- temporaries ---- */

/* Whether a statement gives s a value on every way through it, before it uses s. */
static bool assigns(node *n, const symbol *s)
{
  if (!n) return false;
  if (n->kind == S_BLOCK) {
    for (node *k = n->list; k; k = k->next)
      if (count(k, s)) return assigns(k, s);
    return false;
  }
  if (n->kind == S_IF) return !count(n->a, s) && assigns(n->b, s) && assigns(n->c, s);
  return n->kind == S_EXPR && n->a->kind == N_ASSIGN && !n->a->text && !strcmp(n->a->op, "=") &&
         is_name(n->a->a, s) && !count(n->a->b, s);
}

/* Whether every use of s below n stands behind an assignment in its block. */
static bool is_private_below(node *n, const symbol *s)
{
  if (!n || !count(n, s)) return true;
  if (n->kind == S_BLOCK) {
    node *k = n->list;

    while (k && !count(k, s))
      k = k->next;
    if (k && assigns(k, s)) return true;
    for (; k; k = k->next)
      if (!is_private_below(k, s)) return false;
    return true;
  }
  if (n->kind == S_FOR && n->a && n->a->kind == N_ASSIGN && is_name(n->a->a, s) &&
      !count(n->a->b, s))
    return true; /* the variable of a loop */
  switch (n->kind) {
  case S_EXPR:
    return n->a->kind == N_ASSIGN && !strcmp(n->a->op, "=") && is_name(n->a->a, s) &&
           count(n, s) == 1;
  case S_IF: return !count(n->a, s) && is_private_below(n->b, s) && is_private_below(n->c, s);
  case S_FOR:
    return !count(n->a, s) && !count(n->b, s) && !count(n->c, s) && is_private_below(n->d, s);
  case S_WHILE:
  case S_DO: return !count(n->a, s) && is_private_below(n->d, s);
  default: return false;
  }
}

static bool declares(node *e, void *user)
{
  return e->kind == N_DECL && e->sym == user;
}

static bool loops_over(node *e, void *user)
{
  return e->kind == S_FOR && e->a && e->a->kind == N_ASSIGN && is_name(e->a->a, user);
}

/* for (i = start; ...; i += 2): red and black, with a start that goes to and fro. */
static bool starts_at(node *e, void *user)
{
  return e->kind == S_FOR && e->a && e->c && e->c->kind == N_ASSIGN && count(e->a, user);
}

typedef struct assigned_list {
  symbol *at[256];
  int n;
} assigned_list;

static bool list_assigned(node *e, void *user)
{
  assigned_list *l = user;
  node *target = NULL;

  if (e->kind == N_ASSIGN) target = e->a;
  if (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--"))) target = e->a;
  if (!target || target->kind != N_NAME || l->n == 256) return true;
  for (int i = 0; i < l->n; i++)
    if (l->at[i] == target->sym) return true;
  l->at[l->n++] = target->sym;
  return true;
}

/* ---- numbers behind pointers and in structs ---- */

typedef struct places {
  nest *n;
  int count;
  struct {
    const char *text;
    symbol *sym;
    node *like;
  } at[16];
} places;

static bool is_changed(node *e, void *user)
{
  const nest *n = user;
  assigned_list l = {.n = 0};

  if (e->kind != N_NAME) return e->kind == N_CALL || e->kind == N_OPAQUE;
  port_walk(n->copy, list_assigned, &l);
  for (int i = 0; i < l.n; i++)
    if (l.at[i] == e->sym) return true;
  return port_find(n->copy, declares, e->sym) != NULL;
}

/* *max = ..., s->sum += ..., err[0] = ...: the same place for all cells. */
static bool note_place(node *e, void *user)
{
  places *p = user;
  symbol *s;
  node *to = e->kind == N_ASSIGN ? e->a : NULL;

  if (e->kind == N_UNARY && (strstr(e->op, "++") || strstr(e->op, "--"))) to = e->a;
  if (!to || to->kind == N_NAME || to->type > T_INTEGER ||
      (to->kind == N_INDEX && to->a->kind == N_NAME && port_line_of(p->n, to->a->sym)) ||
      p->count == 16 || port_find(to, is_changed, p->n))
    return true;
  for (int i = 0; i < p->count; i++)
    if (!strcmp(p->at[i].text, port_print(to))) return true;
  s = port_new(sizeof *s);
  *s = (symbol){.name = port_print(to),
                .ctype = clang_getCanonicalType(to->ctype),
                .type = to->type,
                .is_global = true,
                .is_place = true};
  p->at[p->count].text = s->name;
  p->at[p->count].like = to;
  p->at[p->count++].sym = s;
  return true;
}

static void replace_places(node **at, const places *p)
{
  node *e = *at;

  if (!e) return;
  for (int i = 0; i < p->count; i++)
    if (e->kind == p->at[i].like->kind && !strcmp(p->at[i].text, port_print(e))) {
      node *name = port_node(N_NAME, e);

      name->sym = p->at[i].sym;
      name->text = name->sym->name;
      name->type = name->sym->type;
      name->ctype = name->sym->ctype;
      name->next = e->next;
      *at = name;
      return;
    }
  replace_places(&e->a, p);
  replace_places(&e->b, p);
  replace_places(&e->c, p);
  replace_places(&e->d, p);
  for (node **k = &e->list; *k; k = &(*k)->next)
    replace_places(k, p);
}

void port_name_places(nest *n)
{
  places p = {.n = n};

  port_walk(n->copy, note_place, &p);
  if (p.count) replace_places(&n->copy, &p);
}

bool port_is_private(nest *n, const symbol *s)
{
  return is_private_below(n->node, s) && !port_is_live(n, s);
}

static bool is_reduced(node *e, void *user)
{
  return e->kind == N_ASSIGN && e->text && is_name(e->a, user);
}

/* Whether the calls that take the place of the nest set the variable of a loop. */
static bool is_set_after(const nest *n, const symbol *s)
{
  bool is_set = false;

  for (int k = 0; k < n->nloops; k++) {
    bool in_leaf = false;

    if (n->loops[k].var != s) continue;
    for (const leaf *l = n->leaves; l; l = l->next)
      for (int i = 0; i < l->nloops; i++)
        in_leaf |= l->loops[i] == k;
    if (!in_leaf || !n->loops[k].is_outside) return false;
    is_set = true;
  }
  return is_set;
}

bool port_live_out(nest *n)
{
  assigned_list l = {.n = 0};

  port_walk(n->node, list_assigned, &l);
  port_walk(n->whole, list_assigned, &l);
  for (int i = 0; i < l.n; i++) {
    const symbol *s = l.at[i];

    if (port_find(n->node, declares, l.at[i]) || port_find(n->whole, declares, l.at[i]) ||
        port_find(n->whole, is_reduced, l.at[i]) || is_set_after(n, s) || !port_is_live(n, s))
      continue;
    return port_refuse(n, n->node, port_text("'%s' may be used after the nest", s->name),
                       "declare it inside the loop");
  }
  return true;
}

/* s = 0; for (...) { s += u[i]; v[i] = s; }, and the value of its last cell, used behind it. */
int port_carried(nest *n, node *loop, node *rest, symbol **at, int most)
{
  assigned_list l = {.n = 0};
  node after = {.kind = S_BLOCK, .list = rest};
  int count = 0;

  port_walk(loop->d, list_assigned, &l);
  for (int i = 0; i < l.n; i++) {
    symbol *s = l.at[i];

    if (port_find(loop->d, declares, s) || port_find(n->whole, is_reduced, s)) continue;
    if (!is_private_below(&after, s)) return -1;
    if (is_private_below(loop->d, s)) continue;
    if (count == most || s->type > T_I64) return -1;
    at[count++] = s;
  }
  return count;
}

bool port_scalars(nest *n)
{
  assigned_list l = {.n = 0};

  port_walk(n->copy, list_assigned, &l);
  for (int i = 0; i < l.n; i++) {
    symbol *s = l.at[i];

    if (port_find(n->copy, declares, s) || port_find(n->copy, loops_over, s)) continue;
    if (is_reduction(n, s)) continue;
    if (!is_private_below(n->copy, s))
      return port_refuse(
          n, n->node, port_text("'%s' carries a value from one cell to the next", s->name),
          port_find(n->copy, starts_at, s)
              ? "compute the first cell from the row: for (i = 1 + (j + k + pass) % 2; ...; i += 2)"
              : "sums, minima and maxima are understood; anything else depends on the order "
                "of cells");
  }
  return true;
}
