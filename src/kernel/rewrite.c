/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel/rewrite.h"
#include "kernel/range.h"

void *ambit__rewriting_take(ambit__rewriting *w, size_t bytes)
{
  void *p = w->failed ? NULL : ambit__arena_alloc(&w->to->arena, bytes);

  w->starved |= !w->failed && !p;
  w->failed = w->failed || !p;
  return p;
}

const ambit__expr *ambit__rewriting_make(ambit__rewriting *w, const ambit__expr *like, ambit__op op,
                                         ambit_type type, const ambit__expr *a,
                                         const ambit__expr *b)
{
  ambit__expr *e = ambit__rewriting_take(w, sizeof *e);

  if (!e) return like;
  *e = (ambit__expr){.op = op, .type = type, .place = like->place, .a = a, .b = b};
  w->changed = true;
  return e;
}

const ambit__expr *ambit__rewriting_number(ambit__rewriting *w, const ambit__expr *like,
                                           ambit_type type, ambit__value v)
{
  ambit__expr *e = ambit__rewriting_take(w, sizeof *e);

  if (!e) return like;
  *e = (ambit__expr){.op = EXPR_CONST, .type = type, .place = like->place, .value = v};
  w->changed = true;
  return e;
}

const ambit__expr *ambit__rewriting_with(ambit__rewriting *w, const ambit__expr *e,
                                         const ambit__expr *a, const ambit__expr *b,
                                         const ambit__expr *c)
{
  ambit__expr *copy;

  if (a == e->a && b == e->b && c == e->c) return e;
  copy = ambit__rewriting_take(w, sizeof *copy);
  if (!copy) return e;
  *copy = *e;
  copy->a = a;
  copy->b = b;
  copy->c = c;
  w->changed = true;
  return copy;
}

const ambit__stmt *ambit__rewriting_list(ambit__rewriting *w, const ambit__stmt *list,
                                         const ambit__expr *(*f)(ambit__rewriting *,
                                                                 const ambit__expr *))
{
  const ambit__stmt *first = NULL, **tail = &first;

  for (const ambit__stmt *s = list; s && !w->failed; s = s->next) {
    ambit__stmt *copy = ambit__rewriting_take(w, sizeof *copy);

    if (!copy) break;
    *copy = *s;
    copy->next = NULL;
    copy->value = s->value ? f(w, s->value) : NULL;
    copy->body = ambit__rewriting_list(w, s->body, f);
    copy->other = ambit__rewriting_list(w, s->other, f);
    *tail = copy;
    tail = &copy->next;
  }
  return first;
}
