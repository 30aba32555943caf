/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel/rewrite.h"

#include <stdio.h>
#include <string.h>

typedef ambit__rewriting work;
typedef ambit__expr expr;

void *ambit__rewriting_take(work *w, size_t bytes)
{
  void *p = w->failed ? NULL : ambit__arena_alloc(&w->to->arena, bytes);

  w->failed = w->failed || !p;
  return p;
}

void ambit__rewriting_begin(work *w, ambit__errors *errors, const ambit__rule *rule)
{
  w->errors = errors;
  w->from = rule;
  w->to = ambit__new(errors, 1, sizeof *w->to);
  w->failed = !w->to;
  if (!w->to) return;
  *w->to = *rule;
  w->to->arena = (ambit__arena){0};
  w->to->params = ambit__rewriting_take(w, AMBIT_MAX_PARAMS * sizeof *w->to->params);
  if (!w->failed && rule->nparams)
    memcpy(w->to->params, rule->params, (size_t)rule->nparams * sizeof *rule->params);
}

bool ambit__rule_add_param(ambit__rule *rule, const char *prefix, ambit__param p)
{
  char name[32];
  const int length = snprintf(name, sizeof name, "%s%d", prefix, rule->nparams);

  p.name = ambit__arena_strndup(&rule->arena, name, (size_t)length);
  if (!p.label) p.label = p.name;
  p.writes = p.keeps = ambit__arena_alloc(&rule->arena, (size_t)p.components);
  rule->params[rule->nparams++] = p;
  return p.name && p.keeps;
}

/* ---- expressions ---- */

expr *ambit__rewriting_make(work *w, const expr *like, ambit__op op, ambit_type type, const expr *a,
                            const expr *b, const expr *c)
{
  expr *e = ambit__rewriting_take(w, sizeof *e);

  if (!e) return NULL;
  *e = (expr){.op = op, .type = type, .place = like->place, .a = a, .b = b, .c = c};
  w->changed = true;
  return e;
}

const expr *ambit__rewriting_number(work *w, const expr *like, ambit_type type, ambit__value v)
{
  expr *e = ambit__rewriting_make(w, like, EXPR_CONST, type, NULL, NULL, NULL);

  if (e) e->value = v;
  return e;
}

const expr *ambit__rewriting_place(work *w, const expr *like, ambit__op op, int axis)
{
  expr *e = ambit__rewriting_make(w, like, op, AMBIT_I64, NULL, NULL, NULL);

  if (!e) return NULL;
  e->index = axis;
  if (axis > w->to->max_axis) w->to->max_axis = axis;
  return e;
}

expr *ambit__rewriting_read(work *w, const expr *like, int param, int component, const int *offset)
{
  expr *e = w->failed ? NULL
                      : ambit__rewriting_make(w, like, EXPR_READ, w->to->params[param].type, NULL,
                                              NULL, NULL);

  if (!e) return NULL;
  e->index = param;
  e->component = component;
  memcpy(e->offset, offset, sizeof e->offset);
  return e;
}

const expr *ambit__rewriting_parts(work *w, const expr *e, ambit__rewriter *f)
{
  const expr *a = e->a ? f(w, e->a) : NULL, *b = e->b ? f(w, e->b) : NULL,
             *c = e->c ? f(w, e->c) : NULL;
  expr *copy;

  if (w->failed || (a == e->a && b == e->b && c == e->c)) return e;
  copy = ambit__rewriting_make(w, e, e->op, e->type, NULL, NULL, NULL);
  if (!copy) return e;
  *copy = *e;
  copy->a = a;
  copy->b = b;
  copy->c = c;
  return copy;
}

/* ---- statements ---- */

static const ambit__stmt *rewrite_list(work *w, const ambit__stmt *list, ambit__rewriter *f)
{
  const ambit__stmt *first = NULL, **tail = &first;

  for (const ambit__stmt *s = list; s && !w->failed; s = s->next) {
    ambit__stmt *copy = ambit__rewriting_take(w, sizeof *copy);

    if (!copy) break;
    *copy = *s;
    copy->next = NULL;
    copy->value = s->value ? f(w, s->value) : NULL;
    copy->body = rewrite_list(w, s->body, f);
    copy->other = rewrite_list(w, s->other, f);
    *tail = copy;
    tail = &copy->next;
  }
  return first;
}

/* The locals of the new rule have values of their own. */
static void note_locals(work *w)
{
  const size_t n = (size_t)w->from->nlocals;
  ambit__local *own = ambit__rewriting_take(w, (n + 1) * sizeof *own);

  if (!own) return;
  if (n) memcpy(own, w->from->locals, n * sizeof *own);
  w->to->locals = own;
  ambit__rule_note_locals(w->to);
}

ambit_status ambit__rewriting_end(work *w, ambit__rewriter *f, const char *to, ambit__rule **out)
{
  if (!w->failed) w->to->body = rewrite_list(w, w->from->body, f);
  if (!w->failed) note_locals(w);
  w->failed = w->failed || !ambit__rule_find_reads(w->errors, w->to);
  *out = w->failed ? NULL : w->to;
  if (!w->failed) return AMBIT_OK;
  ambit__rule_free(w->to);
  if (w->errors->status) return w->errors->status;
  return ambit__raise(w->errors, AMBIT_ENOMEM, "no memory to adapt kernel %s to %s", w->from->name,
                      to);
}
