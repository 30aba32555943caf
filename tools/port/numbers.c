/* SPDX-License-Identifier: BSD-3-Clause */
/* numbers.c - variables whose results of reductions may come late.
 *
 *   gosa = 0; nest with gosa += ss * ss; ...    in each step; the host reads gosa after the loop
 *
 * Such a variable is local, and its address stays here. Its nest is queued like any other;
 * port_later notes that the variable lacks its result, port_know stands before host code that reads
 * it, and port_set before an assignment. If nobody reads it between two steps, no step waits.
 */
#include "edit.h"

#include <string.h>

static bool is_address_of(node *e, void *user)
{
  const node *a = e->kind == N_UNARY && e->op[0] == '&' ? e->a : NULL;

  return a && a->kind == N_NAME && a->sym == user;
}

/* goto, labels, asm: a declaration may be jumped over. */
static bool jumps(node *e, void *user)
{
  (void)user;
  return e->kind == S_OTHER && !e->text;
}

/* Where the variable is declared: a statement of a block that no case leads into. */
static bool declares(node *e, void *user)
{
  for (node *s = e->kind == S_BLOCK ? e->list : NULL; s; s = s->next)
    if (s->kind == S_OTHER && s->text && s->text[0] != 's') return false;
  for (node *s = e->kind == S_BLOCK ? e->list : NULL; s; s = s->next)
    for (node *d = s->kind == S_DECL ? s->list : NULL; d; d = d->next)
      if (d->sym == user) return s->end && !s->is_macro;
  return false;
}

bool port_number_may_be_late(const function *f, symbol *s)
{
  return (s->type == T_F32 || s->type == T_F64 || s->type == T_I32 || s->type == T_I64) &&
         !s->is_global && !s->is_place && !clang_isVolatileQualifiedType(s->ctype) &&
         clang_Cursor_getStorageClass(s->cursor) != CX_SC_Register &&
         !port_find(f->body, is_address_of, s) && !port_find(f->body, jumps, NULL) &&
         (s->is_param || port_find(f->body, declares, s));
}

static void mark(const step *steps, bool is_late)
{
  for (const step *s = steps; s; s = s->next)
    for (int i = 0; i < s->nparams; i++)
      if (s->params[i].reduction) s->params[i].reduction->a->sym->is_late = is_late;
}

/* A step has one kind of results only: all are late, or none is. */
static bool spread(const step *steps)
{
  bool changed = false;

  for (const step *s = steps; s; s = s->next) {
    int late = 0, n = 0;

    for (int i = 0; i < s->nparams; i++)
      if (s->params[i].reduction) {
        n++;
        late += s->params[i].reduction->a->sym->is_late && !s->params[i].reduction->c;
      }
    if (late == n) continue;
    for (int i = 0; i < s->nparams; i++)
      if (s->params[i].reduction && s->params[i].reduction->a->sym->is_late) {
        s->params[i].reduction->a->sym->is_late = false;
        changed = true;
      }
  }
  return changed;
}

void port_numbers_find(const function *f, nest **nests, int n)
{
  bool more = true;

  for (int i = 0; i < n; i++)
    mark(nests[i]->steps, true);
  for (int i = 0; i < n; i++)
    for (const step *s = nests[i]->steps; s; s = s->next)
      for (int k = 0; k < s->nparams; k++) {
        symbol *sym = s->params[k].reduction ? s->params[k].reduction->a->sym : NULL;

        if (sym &&
            (!port_number_may_be_late(f, sym) || port_until(f, nests[i], nests[i]->steps, false)))
          sym->is_late = false;
      }
  while (more) {
    more = false;
    for (int i = 0; i < n; i++)
      more |= spread(nests[i]->steps);
  }
}

bool port_number_is_late(const step *s)
{
  for (int i = 0; i < s->nparams; i++)
    if (s->params[i].reduction && s->params[i].reduction->a->sym->is_late) return true;
  return false;
}

/* ---- the variables that a nest reads ---- */

typedef struct reader {
  const nest *nest;
  const symbol *done[32];
  int n;
  const char *text;
} reader;

/* Whether a name stands in C text. */
static bool has_name(const char *text, const char *name)
{
  static const char others[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const size_t n = strlen(name);

  for (const char *at = text; (at = strstr(at, name)); at++)
    if ((at == text || !strchr(others, at[-1])) && (!at[n] || !strchr(others, at[n]))) return true;
  return false;
}

/* Whether the steps give the variable its value, and use it for nothing else. */
static bool is_result(const nest *n, const symbol *s)
{
  bool is = false;

  for (; n; n = n->next_case)
    for (const step *t = n->steps; t; t = t->next)
      for (int i = 0; i < t->nparams; i++) {
        is |= t->params[i].reduction && t->params[i].reduction->a->sym == s;
        if (t->params[i].value && has_name(t->params[i].value, s->name)) return false;
      }
  return is;
}

static bool note_reader(node *e, void *user)
{
  reader *r = user;

  if (e->kind != N_NAME || !e->sym || !e->sym->is_late || is_result(r->nest, e->sym)) return true;
  for (int i = 0; i < r->n; i++)
    if (r->done[i] == e->sym) return true;
  if (r->n < 32) r->done[r->n++] = e->sym;
  r->text = port_text("%s  port_know(&%s);", r->text, e->sym->name);
  return true;
}

const char *port_numbers_read(const nest *n)
{
  reader r = {.nest = n, .text = ""};

  port_walk(n->node, note_reader, &r);
  return r.text;
}

/* ---- where they are declared ---- */

typedef struct declaring {
  const unit *u;
  int n;
} declaring;

static bool declare_in(node *s, void *user)
{
  declaring *c = user;
  const char *text = "";

  if (s->kind != S_DECL) return true;
  for (node *d = s->list; d; d = d->next)
    if (d->sym->is_late)
      text = port_text("%s PORT_NUMBER(port_number_%d, %s);", text, ++c->n, d->sym->name);
  if (text[0]) port_edit(port_statement_end(c->u, s), 0, text);
  return true;
}

void port_numbers_declare(const unit *u, const function *f)
{
  declaring c = {u, 0};

  for (int i = 0; i < f->nparams; i++)
    if (f->params[i]->is_late)
      port_edit(f->body->begin + 1, 0,
                port_text(" PORT_NUMBER(port_number_%d, %s);", ++c.n, f->params[i]->name));
  port_walk(f->body, declare_in, &c);
}
