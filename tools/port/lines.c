/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - arrays of one line, which a nest uses again for each of its lines.
 *
 *   for (i ...) {
 *     c[0] = d[0] = 0;
 *     for (j = 1 ...) c[j] = a / (b - a * c[j - 1]), d[j] = (r[i][j] - a * d[j - 1]) / ...;
 *     for (j = n - 2 ...) u[i][j] = d[j] - c[j] * u[i][j + 1];
 *   }
 *
 * Each element that is read was written in the same round of i, and nothing but such nests uses
 * the array: so it may have a line for each i, in memory that the step finds for itself. A
 * tridiagonal solver is two sweeps of all lines then.
 */
#include "nest.h"

#include <string.h>

enum { MOST_USES = 256, MOST_DENIED = 64 };

/* ---- where a nest uses arrays of one axis ---- */

typedef struct use {
  symbol *root;
  node *subscript;
  bool is_write;
  int nloops;
  node *loops[LOOPS]; /* around it, from the outermost */
} use;

typedef struct uses {
  nest *n;
  use at[MOST_USES];
  int count;
  node *loops[LOOPS];
  int nloops;
  bool is_full;
} uses;

typedef struct pointer_search {
  const symbol *sym;
  node *to;
} pointer_search;

static bool declares_pointer(node *e, void *user)
{
  pointer_search *p = user;

  if (e->kind == N_DECL && e->sym == p->sym && e->a) p->to = port_bare(e->a);
  return p->to != NULL;
}

/* The array that a pointer of the nest leads to: parameters of functions that were inlined. */
static symbol *root_of(const nest *n, symbol *s)
{
  for (int tries = 0; tries < 8; tries++) {
    pointer_search p = {.sym = s};

    if (s->type != T_POINTER || !port_find(n->copy, declares_pointer, &p)) break;
    if (p.to->kind != N_NAME) return NULL;
    s = p.to->sym;
  }
  return s;
}

static symbol *loop_variable(const node *f)
{
  const node *a = f->a;

  if (a && a->kind == S_DECL) a = a->list;
  if (a && a->kind == S_EXPR) a = a->a;
  if (!a || (a->kind != N_DECL && a->kind != N_ASSIGN)) return NULL;
  return a->kind == N_DECL ? a->sym : a->a->kind == N_NAME ? a->a->sym : NULL;
}

static void add_use(uses *u, node *e, bool is_write)
{
  use *x = &u->at[u->count];
  symbol *root;

  if (e->kind != N_INDEX || e->a->kind != N_NAME || e->type > T_I64 ||
      !(root = root_of(u->n, e->a->sym)))
    return;
  u->is_full |= u->count == MOST_USES;
  if (u->is_full) return;
  u->count++;
  *x = (use){.root = root, .subscript = e->b, .is_write = is_write, .nloops = u->nloops};
  memcpy(x->loops, u->loops, sizeof x->loops);
}

static void gather(uses *u, node *e)
{
  const bool is_loop = e && e->kind == S_FOR && u->nloops < LOOPS;

  if (!e) return;
  if (is_loop) u->loops[u->nloops++] = e;
  if (e->kind == N_INDEX) add_use(u, e, false);
  if (e->kind == N_ASSIGN) add_use(u, e->a, true);
  gather(u, e->a);
  gather(u, e->b);
  gather(u, e->c);
  gather(u, e->d);
  for (node *k = e->list; k; k = k->next)
    gather(u, k);
  if (is_loop) u->nloops--;
}

static bool is_name_of(node *e, void *user)
{
  return e->kind == N_NAME && e->sym == user;
}

static bool has_variable(const use *u, int loop)
{
  return port_find(u->subscript, is_name_of, loop_variable(u->loops[loop])) != NULL;
}

/* How many loops are around all uses of an array, none of them in a subscript, where some use
 * goes along a line inside of them; 0: it is no such array. */
static int outer_loops(const uses *u, const symbol *root, const use **first)
{
  bool goes_along = false;
  int n = LOOPS;

  *first = NULL;
  for (int i = 0; i < u->count; i++) {
    const use *x = &u->at[i];
    int k = 0;

    if (x->root != root) continue;
    if (!*first) *first = x;
    while (k < n && k < x->nloops && x->loops[k] == (*first)->loops[k] &&
           loop_variable(x->loops[k]) && !has_variable(x, k))
      k++;
    n = k;
  }
  for (int i = 0; i < u->count; i++) {
    const use *x = &u->at[i];
    int along = 0;

    if (x->root != root) continue;
    for (int k = 0; k < x->nloops; k++)
      along += has_variable(x, k);
    if (along > 1) return 0;
    goes_along |= along && x->is_write;
  }
  return goes_along ? n : 0;
}

/* ---- arrays that are no such ones after all ---- */

static const symbol *denied[MOST_DENIED];
static int ndenied;

typedef struct placing {
  const node *nest;
  int place;
} placing;
static placing placings[MOST_DENIED];
static int nplacings;

static bool are_off;

void port_lines_reset(bool is_off)
{
  ndenied = nplacings = 0;
  are_off = is_off;
}

static bool is_denied(const symbol *s)
{
  for (int i = 0; i < ndenied; i++)
    if (denied[i] == s) return true;
  return are_off || s->is_param || ndenied == MOST_DENIED;
}

static int place_in(const nest *n, int usual)
{
  for (int i = 0; i < nplacings; i++)
    if (placings[i].nest == n->node) return placings[i].place;
  return usual;
}

void port_lines_find(nest *n)
{
  uses *u = port_new(sizeof *u);

  u->n = n;
  gather(u, n->copy);
  for (int i = 0; i < u->count && !u->is_full; i++) {
    const use *first;
    const int outer = outer_loops(u, u->at[i].root, &first);
    line *l = &n->lines[n->nlines];

    if (!outer || outer >= AXES || n->nlines == MOST_LINES || port_line_of(n, u->at[i].root) ||
        is_denied(u->at[i].root))
      continue;
    *l = (line){.root = u->at[i].root, .nouter = outer, .place = place_in(n, outer)};
    for (int k = 0; k < outer; k++)
      l->outer[k] = loop_variable(first->loops[k]);
    l->name = port_text("port_line_%u_%s", n->node->line, l->root->name);
    n->nlines++;
  }
}

const line *port_line_of(const nest *n, const symbol *root)
{
  for (int i = 0; i < n->nlines; i++)
    if (n->lines[i].root == root) return &n->lines[i];
  return NULL;
}

/* ---- every element that is read was written before, in the same line ---- */

/* The elements of an access, from the first to behind the last; the loop that goes along. */
static bool range_of(const nest *n, const access *a, int level, poly *lo, poly *hi, int *along)
{
  poly c, shift = a->subs[level];

  *along = -1;
  for (int k = 0; k < n->nloops && *along < 0; k++)
    if (port_poly_has(a->subs[level], n->loops[k].atom) &&
        port_poly_split(a->subs[level], n->loops[k].atom, &c, &shift))
      *along = k;
  *lo = *along < 0 ? shift : port_poly_add(n->loops[*along].lo, shift);
  *hi = *along < 0 ? port_poly_add(shift, port_poly_number(1))
                   : port_poly_add(n->loops[*along].hi, shift);
  return !lo->is_bad && !hi->is_bad;
}

static bool at_most(poly a, poly b)
{
  int64_t x;

  return port_poly_is_number(port_poly_sub(a, b), &x) && x <= 0;
}

typedef struct written {
  poly lo, hi;
  bool is_any;
} written;

static bool is_within(const written *w, poly lo, poly hi)
{
  return at_most(hi, lo) || (w->is_any && at_most(w->lo, lo) && at_most(hi, w->hi));
}

/* Values that the same loop wrote in earlier cells, or in this one, and before it. */
static bool was_written(const nest *n, const access *r, int level, const written *before)
{
  poly lo, hi, wlo, whi;
  int along, other;
  int64_t by;

  if (!range_of(n, r, level, &lo, &hi, &along)) return false;
  if (is_within(before, lo, hi)) return true;
  for (int i = 0; i < n->naccesses && along >= 0; i++) {
    const access *w = n->accesses[i];

    if (w->array != r->array || !w->is_write || !w->is_sure ||
        !range_of(n, w, level, &wlo, &whi, &other) || other != along ||
        !port_poly_is_number(port_poly_sub(lo, wlo), &by))
      continue;
    if (!by && w->order < r->order) return true;
    if (by < 0 && !n->loops[along].is_down && is_within(before, lo, wlo)) return true;
    if (by > 0 && n->loops[along].is_down && is_within(before, whi, hi)) return true;
  }
  return false;
}

static void add_written(const nest *n, const access *w, int level, written *to)
{
  poly lo, hi;
  int along;

  if (!w->is_sure || !range_of(n, w, level, &lo, &hi, &along)) return;
  if (!to->is_any) {
    *to = (written){lo, hi, true};
    return;
  }
  if (at_most(lo, to->hi) && !at_most(hi, to->hi) && at_most(to->lo, lo)) to->hi = hi;
  if (at_most(to->lo, hi) && !at_most(to->lo, lo) && at_most(hi, to->hi)) to->lo = lo;
}

bool port_lines_are_written(nest *n)
{
  for (int k = 0; k < n->nlines; k++) {
    written w = {.is_any = false};
    const access *last = NULL; /* writes of a loop count for what stands behind the loop */

    for (int i = 0; i < n->naccesses; i++) {
      const access *a = n->accesses[i];

      if (a->array->line != &n->lines[k]) continue;
      for (int m = 0; last && m <= i && a->leaf != last->leaf; m++)
        if (n->accesses[m]->array == a->array && n->accesses[m]->is_write &&
            n->accesses[m]->leaf < a->leaf)
          add_written(n, n->accesses[m], n->lines[k].place, &w);
      last = a;
      if (a->is_read && !was_written(n, a, n->lines[k].place, &w))
        return port_refuse(
            n, a->node,
            port_text("'%s' keeps a value for each cell of a line, and %s may be one "
                      "of another line",
                      n->lines[k].root->name, port_access_shown(a)),
            "nests between arrays of all cells would run in parallel");
    }
  }
  return true;
}

/* ---- the program around the nests ---- */

static bool is_memory(const node *e)
{
  e = port_bare((node *)(uintptr_t)e);
  return e->kind == N_CALL && (!strcmp(e->text, "malloc") || !strcmp(e->text, "calloc"));
}

typedef struct search {
  const symbol *sym;
  nest *const *nests;
  int nnests;
} search;

/* A use of the array, other than in its nests, and where it gets its memory and loses it. */
static bool is_other_use(const node *e, const search *s)
{
  if (!e) return false;
  for (int i = 0; i < s->nnests; i++)
    if (s->nests[i]->node == e && s->nests[i]->steps && port_line_of(s->nests[i], s->sym))
      return false;
  if (e->kind == N_NAME && e->sym == s->sym) return true;
  if (e->kind == N_CALL && !strcmp(e->text, "free")) return false;
  if (e->kind == N_ASSIGN && e->a->kind == N_NAME && e->a->sym == s->sym)
    return !is_memory(e->b) || is_other_use(e->b, s);
  if (e->kind == N_DECL && e->sym == s->sym && e->a) return !is_memory(e->a);
  if (is_other_use(e->a, s) || is_other_use(e->b, s) || is_other_use(e->c, s) ||
      is_other_use(e->d, s))
    return true;
  for (const node *k = e->list; k; k = k->next)
    if (is_other_use(k, s)) return true;
  return false;
}

static bool is_used_elsewhere(const nest *n, const symbol *sym, nest *const *nests, int nnests)
{
  const search s = {sym, nests, nnests};

  if (sym->is_global && clang_getCursorLinkage(sym->cursor) != CXLinkage_Internal) return true;
  for (const function *f = n->unit->functions; f; f = f->next)
    if ((f == n->function || sym->is_global) && is_other_use(f->body, &s)) return true;
  return false;
}

bool port_lines_check(nest *const *nests, int nnests)
{
  bool more = false;

  for (int i = 0; i < nnests; i++)
    for (int k = 0; k < nests[i]->nlines; k++) {
      const symbol *root = nests[i]->lines[k].root;

      if (is_denied(root) || (nests[i]->steps && !is_used_elsewhere(nests[i], root, nests, nnests)))
        continue;
      denied[ndenied++] = root;
      more = true;
    }
  return more;
}

/* Which axis of a whole array the line is: the loops in the order of the axes. */
static int place_of(const nest *n, const access *a, const line *l)
{
  int outer = 0, place = -1;

  if (a->array->line || a->naxes != l->nouter + 1) return -1;
  for (int d = 0; d < a->naxes; d++) {
    const loop *found = NULL;

    for (int k = 0; k < n->nloops; k++)
      if (port_poly_has(a->index[d], n->loops[k].atom)) found = &n->loops[k];
    if (!found) return -1;
    if (outer < l->nouter && found->var == l->outer[outer])
      outer++;
    else if (place < 0)
      place = d;
    else
      return -1;
  }
  return place;
}

bool port_lines_turn(nest *const *nests, int nnests)
{
  bool more = false;

  for (int i = 0; i < nnests; i++)
    for (int k = 0; nests[i]->nlines && k < nests[i]->naccesses; k++) {
      const nest *n = nests[i];
      const int place = place_of(n, n->accesses[k], &n->lines[0]);

      if (place < 0) continue;
      if (place != n->lines[0].place && place_in(n, -1) < 0 && nplacings < MOST_DENIED) {
        placings[nplacings++] = (placing){n->node, place};
        more = true;
      }
      break;
    }
  return more;
}
