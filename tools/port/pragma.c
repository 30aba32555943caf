/* SPDX-License-Identifier: BSD-3-Clause */
/* pragma.c - reads directives out of the text: libclang leaves unknown pragmas out of its tree.
 *
 *   #pragma ambit [must] [serial] [sum(any)|sum(order)] [shape(u[nz][ny][nx], ...)]
 *                 [distinct(a, b)]
 *   #pragma panda distribute(u, v) size(nx, ny, nz)       shapes, x first
 *   #pragma panda boundary(zmin) size(n, n)               a nest, as any other
 *   #pragma panda reduction(+:s)                          sum(any)
 *   #pragma panda wait
 *
 * A directive is about the loop, block or function that follows it.
 */
#include "pragma.h"
#include "edit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const told_shape *port_told_shapes;

typedef struct reader {
  unit *u;
  pragma *p;
  const char *at, *end;
} reader;

static bool wrong(const reader *r, const char *at, const char *what, const char *advice)
{
  node place = {.begin = (unsigned)(at - r->u->text),
                .end = (unsigned)(at - r->u->text) + 1,
                .line = r->p->line};
  const char *first = at;

  while (first > r->u->text && first[-1] != '\n')
    first--;
  place.column = (unsigned)(at - first) + 1;
  port_note(r->u, &place, "error", what, advice);
  return false;
}

static void skip_space(reader *r)
{
  while (r->at < r->end && (isspace((unsigned char)*r->at) || *r->at == ',' || *r->at == '\\'))
    r->at++;
}

static const char *word(reader *r)
{
  const char *first;

  skip_space(r);
  first = r->at;
  while (r->at < r->end && (isalnum((unsigned char)*r->at) || *r->at == '_'))
    r->at++;
  return port_text("%.*s", (int)(r->at - first), first);
}

/* u, g->u or g.u */
static const char *path(reader *r)
{
  const char *name = word(r);

  while (name[0] && r->at < r->end && (*r->at == '.' || (*r->at == '-' && r->at[1] == '>'))) {
    const int n = *r->at == '.' ? 1 : 2;

    r->at += n;
    name = port_text("%s%s%s", name, n == 1 ? "." : "->", word(r));
  }
  return name;
}

/* The text up to the bracket that closes the one at r->at. */
static const char *bracketed(reader *r)
{
  const char *first = r->at + 1;
  int depth = 0;

  for (; r->at < r->end; r->at++) {
    depth += *r->at == '(' || *r->at == '[';
    depth -= *r->at == ')' || *r->at == ']';
    if (!depth) return port_text("%.*s", (int)(r->at++ - first), first);
  }
  return NULL;
}

static told_shape *tell(const reader *r, const char *name)
{
  told_shape *s = port_new(sizeof *s);

  s->name = name;
  s->next = r->u->shapes;
  return r->u->shapes = s;
}

/* u[nz][ny][nx], v[...] */
static bool read_shape(reader *r)
{
  while (r->at < r->end) {
    const char *name = path(r);
    told_shape *s;

    if (!name[0]) break;
    r->p->has_shape = true;
    s = tell(r, name);
    while (r->at < r->end && *r->at == '[') {
      const char *e = bracketed(r);

      if (!e || s->naxes == AXES)
        return wrong(r, r->at, "the shape is not understood", "shape(u[nz][ny][nx])");
      s->extents[s->naxes++] = e;
    }
    if (!s->naxes) return wrong(r, r->at, "the shape has no extents", "shape(u[nz][ny][nx])");
  }
  return true;
}

static int split(const char *text, const char **out, int most)
{
  int n = 0, depth = 0;
  const char *first = text;

  for (const char *c = text;; c++) {
    depth += *c == '(';
    depth -= *c == ')';
    if ((*c == ',' && !depth) || !*c) {
      while (isspace((unsigned char)*first))
        first++;
      if (n < most && c > first) out[n++] = port_text("%.*s", (int)(c - first), first);
      first = c + 1;
    }
    if (!*c) return n;
  }
}

static bool clause(reader *r, const char *name)
{
  const char *inside = NULL, *at = r->at;

  skip_space(r);
  if (r->at < r->end && *r->at == '(') {
    at = r->at;
    inside = bracketed(r);
    if (!inside) return wrong(r, at, "this bracket is not closed", NULL);
  }
  if (!strcmp(name, "must"))
    r->p->is_must = true;
  else if (!strcmp(name, "serial"))
    r->p->is_serial = true;
  else if (!strcmp(name, "sum") && inside && !strcmp(inside, "any"))
    r->p->sum_any = true;
  else if (!strcmp(name, "sum") && inside && !strcmp(inside, "order"))
    r->p->sum_any = false;
  else if (!strcmp(name, "distinct") && inside)
    return true; /* checked at run time anyway */
  else if (!strcmp(name, "shape") && inside) {
    reader inner = *r;

    inner.at = at + 1;
    inner.end = r->at - 1;
    return read_shape(&inner);
  } else
    return wrong(
        r, at > r->u->text ? at - (inside ? 1 : strlen(name)) : at,
        port_text("there is no clause '%s%s'", name, inside ? "(...)" : ""),
        "must, serial, sum(any), sum(order), shape(u[ny][nx]) and distinct(a, b) are understood");
  return true;
}

static bool read_ambit(reader *r)
{
  for (;;) {
    const char *name = word(r);

    if (!name[0]) {
      skip_space(r);
      if (r->at < r->end) return wrong(r, r->at, "this is not a clause", NULL);
      return true;
    }
    if (!clause(r, name)) return false;
  }
}

static bool read_panda(reader *r)
{
  const char *name = word(r), *arrays[32], *sizes[AXES], *inside = NULL;
  int n = 0, m = 0;

  skip_space(r);
  if (!strcmp(name, "wait")) return r->p->is_wait = true;
  if (r->at < r->end && *r->at == '(') inside = bracketed(r);
  if (!strcmp(name, "reduction")) return r->p->sum_any = true;
  if (strcmp(name, "distribute") && strcmp(name, "boundary"))
    return wrong(r, r->at, port_text("there is no directive 'panda %s'", name),
                 "distribute, boundary, reduction, wait");
  if (!strcmp(name, "boundary")) return true;
  n = inside ? split(inside, arrays, 32) : 0;
  name = word(r);
  skip_space(r);
  if (!strcmp(name, "size") && r->at < r->end && *r->at == '(' && (inside = bracketed(r)))
    m = split(inside, sizes, AXES);
  if (!m) return true;
  for (int i = 0; i < n; i++) {
    told_shape *s = tell(r, arrays[i]);

    r->p->has_shape = true;
    s->naxes = m;
    for (int d = 0; d < m; d++)
      s->extents[d] = sizes[m - 1 - d]; /* x is given first */
  }
  return true;
}

/* ---- the statement of a directive ---- */

typedef struct target {
  unsigned after;
  const node *found;
} target;

static bool find_target(node *n, void *user)
{
  target *t = user;

  if (n->kind >= S_DECL && n->kind != N_DECL && n->begin >= t->after &&
      (!t->found || n->begin < t->found->begin))
    t->found = n;
  return true;
}

/* The loop, block or function that follows. */
static void attach(unit *u, pragma *p)
{
  const unsigned next = port_next_token(u, p->end);

  for (function *f = u->functions; f; f = f->next) {
    target t = {p->end, NULL};
    unsigned outside;

    if (!f->is_editable || f->end < p->end) continue;
    if (f->begin >= p->end) { /* before a function */
      if (port_declaration_at(u, f->begin, &outside) > next) return;
      p->from = f->begin;
      p->to = f->end;
      return;
    }
    port_walk(f->body, find_target, &t);
    if (t.found && t.found->kind != S_DECL && u->text[next] != '}') {
      p->from = t.found->begin;
      p->to = t.found->end;
    }
    return;
  }
}

void port_tell_idle(const unit *u)
{
  for (const pragma *p = u->pragmas; p; p = p->next) {
    node place = {.begin = p->begin, .end = p->end, .line = p->line, .column = 1};

    while (u->text[place.begin] == ' ' || u->text[place.begin] == '\t') {
      place.begin++;
      place.column++;
    }
    if (!p->to && !p->is_wait && !p->has_shape && !p->is_serial)
      port_note(u, &place, "note",
                "this directive has no effect: no loop, block or function follows",
                "it stands right before the statement that it is about");
  }
}

static bool is_skipped(const unit *u, unsigned offset)
{
  CXSourceRangeList *list = clang_getSkippedRanges(u->tu, u->file);
  bool skipped = false;

  for (unsigned i = 0; list && i < list->count; i++) {
    unsigned a, b;

    clang_getExpansionLocation(clang_getRangeStart(list->ranges[i]), NULL, NULL, NULL, &a);
    clang_getExpansionLocation(clang_getRangeEnd(list->ranges[i]), NULL, NULL, NULL, &b);
    skipped |= offset >= a && offset < b;
  }
  if (list) clang_disposeSourceRangeList(list);
  return skipped;
}

static bool read_line(unit *u, const char *first, const char *last, unsigned line, pragma ***tail)
{
  reader r = {.u = u, .at = first, .end = last};
  const char *name;

  while (r.at < last && isspace((unsigned char)*r.at))
    r.at++;
  if (r.at == last || *r.at++ != '#' || strcmp(word(&r), "pragma")) return true;
  name = word(&r);
  if ((strcmp(name, "ambit") && strcmp(name, "panda")) ||
      is_skipped(u, (unsigned)(first - u->text)))
    return true;
  for (const char *c = r.at; c + 1 < r.end; c++)
    if (c[0] == '/' && (c[1] == '*' || c[1] == '/')) r.end = c; /* a remark */
  r.p = port_new(sizeof *r.p);
  r.p->begin = (unsigned)(first - u->text);
  r.p->end = (unsigned)(last - u->text);
  r.p->line = u->written ? port_line_in_file(u->written, r.p->begin, line) : line;
  if (!(name[0] == 'a' ? read_ambit(&r) : read_panda(&r))) return false;
  attach(u, r.p);
  **tail = r.p;
  *tail = &r.p->next;
  return true;
}

/* The end of a line, lines that a backslash continues included. */
static const char *line_end(const char *at, const char *end)
{
  while (at < end && *at != '\n')
    at += *at == '\\' && at + 1 < end ? 2 : 1;
  return at;
}

bool port_pragmas(unit *u)
{
  const char *end = u->text + u->size;
  pragma **tail = &u->pragmas;
  unsigned line = 1;

  for (const char *first = u->text; first < end;) {
    const char *last = line_end(first, end);
    unsigned lines = 1;

    for (const char *c = first; c < last; c++)
      lines += *c == '\n';
    if (!read_line(u, first, last, line, &tail)) return false;
    line += lines;
    first = last + 1;
  }
  return true;
}

/* ---- directives of others ---- */

void port_drop_directives(unit *u)
{
  static const char *const others[] = {"omp", "acc"};
  const char *end = u->text + u->size;

  for (const char *first = u->text, *last; first < end; first = last + 1) {
    reader r = {.u = u, .at = first};
    const unsigned at = (unsigned)(first - u->text);
    bool is_other = false;
    const char *name;

    r.end = last = line_end(first, end);
    while (r.at < last && isspace((unsigned char)*r.at))
      r.at++;
    if (r.at == last || *r.at++ != '#' || strcmp(word(&r), "pragma")) continue;
    name = word(&r);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
      is_other |= !strcmp(name, others[i]);
    if (!strcmp(name, "GCC")) is_other = !strcmp(word(&r), "ivdep");
    for (const function *f = u->functions; f && is_other; f = f->next)
      if (f->is_editable && f->begin < at && at < f->end && port_is_edited(f->begin, f->end)) {
        port_edit(at, (unsigned)(last - first), port_commented(first, last));
        break;
      }
  }
}

/* ---- extents ---- */

static poly sum_of(const char **at);

static poly factor_of(const char **at)
{
  const char *first;

  while (isspace((unsigned char)**at))
    ++*at;
  if (**at == '(') {
    poly p;

    ++*at;
    p = sum_of(at);
    if (**at == ')') ++*at;
    return p;
  }
  if (isdigit((unsigned char)**at)) return port_poly_number(strtol(*at, (char **)(uintptr_t)at, 0));
  first = *at;
  while (isalnum((unsigned char)**at) || **at == '_' || **at == '.' ||
         (**at == '-' && (*at)[1] == '>') || (**at == '>' && (*at)[-1] == '-'))
    ++*at;
  if (*at == first) return port_poly_bad();
  return port_poly_atom(port_atom_named(port_text("%.*s", (int)(*at - first), first)));
}

static poly product_of(const char **at)
{
  poly p = factor_of(at);

  for (;;) {
    while (isspace((unsigned char)**at))
      ++*at;
    if (**at != '*') return p;
    ++*at;
    p = port_poly_mul(p, factor_of(at));
  }
}

static poly sum_of(const char **at)
{
  poly p = product_of(at);

  for (;;) {
    while (isspace((unsigned char)**at))
      ++*at;
    if (**at != '+' && **at != '-') return p;
    p = *(*at)++ == '+' ? port_poly_add(p, product_of(at)) : port_poly_sub(p, product_of(at));
  }
}

poly port_told_poly(const char *text)
{
  const poly p = sum_of(&text);

  return *text ? port_poly_bad() : p;
}

/* ---- functions that are called where a directive stands ---- */

static void cover(function *f, const pragma *p);

static bool cover_calls(node *e, void *user)
{
  const pragma *p = user;

  if (e->kind == N_CALL && e->callee && e->begin >= p->from && e->begin < p->to)
    cover(port_real(e->callee), p);
  return true;
}

static bool cover_all_calls(node *e, void *user)
{
  if (e->kind == N_CALL && e->callee) cover(port_real(e->callee), user);
  return true;
}

static void cover(function *f, const pragma *p)
{
  if (f->about || !f->body) return;
  f->about = p;
  port_walk(f->body, cover_all_calls, (void *)(uintptr_t)p);
}

void port_pragmas_spread(unit *u)
{
  for (const pragma *p = u->pragmas; p; p = p->next)
    for (function *f = u->functions; f && !p->is_wait && !p->is_serial; f = f->next)
      port_walk(f->body, cover_calls, (void *)(uintptr_t)p);
}

const pragma *port_pragma_of(const pragma *list, const node *at)
{
  const pragma *best = NULL;

  for (const pragma *p = list; p; p = p->next)
    if (!p->is_wait && p->from <= at->begin && at->end <= p->to && (!best || p->from >= best->from))
      best = p;
  return best;
}
