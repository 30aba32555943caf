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

/* The locals of the new rule have values of their own. */
static void note_locals(ambit__rewriting *w)
{
  const ambit__local *old = w->to->locals;
  const size_t n = (size_t)w->to->nlocals;
  ambit__local *own = ambit__rewriting_take(w, (n + 1) * sizeof *own);

  if (!own) return;
  for (size_t i = 0; i < n; i++)
    own[i] = old[i];
  w->to->locals = own;
  ambit__rule_note_locals(w->to);
}

ambit_status ambit__rule_normal(ambit__errors *errors, const ambit__rule *rule, int64_t extent,
                                bool strict, ambit__rule **out)
{
  ambit__rewriting w = {.errors = errors, .from = rule, .extent = extent};

  *out = NULL;
  w.to = ambit__new(errors, 1, sizeof *w.to);
  if (!w.to) return AMBIT_ENOMEM;
  *w.to = *rule;
  w.to->arena = (ambit__arena){0};
  w.to->written = rule;
  ambit__rewrite_places(&w);
  if (!strict) ambit__rewrite_sums(&w);
  if (w.changed) note_locals(&w);
  if (w.changed && !w.failed && !w.starved)
    *out = w.to;
  else
    ambit__rule_free(w.to);
  AMBIT_CHECK(!w.starved, errors, AMBIT_ENOMEM, "no memory to analyse kernel %s", rule->name);
  return AMBIT_OK;
}
