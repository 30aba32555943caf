/* SPDX-License-Identifier: BSD-3-Clause */
#include "nest/dots.h"

#include "kernel/range.h"

#include <stdlib.h>

enum {
  FEWEST = 3, /* terms of a sum that is worth it */
  MOST = 512, /* sums of a rule */
  MOST_NODES = 400
};

typedef struct work {
  ambit__dots *d;
  int *local; /* of each local: the sum that is its present value, or -1 */
  bool failed;
} work;

/* ---- sums ---- */

static bool add_term(ambit__dot *to, const ambit__expr *read, int64_t weight)
{
  int i = 0;

  while (i < to->n && !ambit__expr_is_same(to->reads[i], read))
    i++;
  if (i == AMBIT__DOT_TERMS) return false;
  if (i == to->n) {
    to->reads[to->n] = read;
    to->weights[to->n++] = 0;
  }
  weight += to->weights[i];
  to->weights[i] = (int)weight;
  return weight >= INT8_MIN && weight <= INT8_MAX;
}

static bool is_narrow(ambit_type type)
{
  return type == AMBIT_U8 || type == AMBIT_I16;
}

/* Adds the multiple of an expression to a sum. false: it is no sum of bytes or shorts. */
static bool add(const work *w, ambit__dot *to, const ambit__expr *e, int64_t times, int *nodes)
{
  const ambit__dot *known;

  if (++*nodes > MOST_NODES || times < INT8_MIN || times > INT8_MAX) return false;
  if (e->op == EXPR_CAST && e->type == AMBIT_I32 && is_narrow(e->a->type))
    return e->a->op == EXPR_READ && add_term(to, e->a, times);
  if (e->type != AMBIT_I32) return false;
  switch (e->op) {
  case EXPR_CONST:
    to->constant = (int32_t)((uint32_t)to->constant + (uint32_t)(e->value.integer * times));
    return true;
  case EXPR_LOCAL:
    if (w->local[e->index] < 0) return false;
    known = &w->d->sums[w->local[e->index]];
    to->constant = (int32_t)((uint32_t)to->constant + (uint32_t)(known->constant * times));
    for (int i = 0; i < known->n; i++)
      if (!add_term(to, known->reads[i], known->weights[i] * times)) return false;
    return true;
  case EXPR_NEG: return add(w, to, e->a, -times, nodes);
  case EXPR_ADD: return add(w, to, e->a, times, nodes) && add(w, to, e->b, times, nodes);
  case EXPR_SUB: return add(w, to, e->a, times, nodes) && add(w, to, e->b, -times, nodes);
  case EXPR_MUL:
    if (e->a->op == EXPR_CONST && llabs(e->a->value.integer) <= -INT8_MIN)
      return add(w, to, e->b, times * e->a->value.integer, nodes);
    return e->b->op == EXPR_CONST && llabs(e->b->value.integer) <= -INT8_MIN &&
           add(w, to, e->a, times * e->b->value.integer, nodes);
  default: return false;
  }
}

/* ---- statements ---- */

const ambit__dot *ambit__dots_find(const ambit__dots *d, const ambit__expr *e)
{
  for (int i = 0; i < d->n; i++)
    if (d->values[i] == e) return d->sums[i].n >= FEWEST ? &d->sums[i] : NULL;
  return NULL;
}

static bool grow(work *w)
{
  const int room = w->d->room ? 2 * w->d->room : 16;
  const ambit__expr **values;
  ambit__dot *sums;

  if (w->d->n < w->d->room) return true;
  values = realloc(w->d->values, (size_t)room * sizeof *values);
  if (values) w->d->values = values;
  sums = realloc(w->d->sums, (size_t)room * sizeof *sums);
  if (sums) w->d->sums = sums;
  w->failed = w->failed || !values || !sums;
  if (!w->failed) w->d->room = room;
  return !w->failed;
}

/* Records the sum that an expression is, and returns its number; -1: none. An expression that was
 * seen before may have another meaning now, and is no sum. */
static int note(work *w, const ambit__expr *e)
{
  ambit__dot sum = {0};
  int nodes = 0;

  if (e->type != AMBIT_I32 || w->d->n == MOST || !add(w, &sum, e, 1, &nodes)) return -1;
  for (int i = 0; i < w->d->n; i++)
    if (w->d->values[i] == e) {
      w->d->values[i] = NULL;
      return -1;
    }
  if (!grow(w)) return -1;
  w->d->values[w->d->n] = e;
  w->d->sums[w->d->n] = sum;
  return w->d->n++;
}

/* The largest sums in an expression. */
static int find(work *w, const ambit__expr *e)
{
  const int i = e->op == EXPR_CONST || e->op == EXPR_LOCAL ? -1 : note(w, e);

  if (i >= 0) return i;
  if (e->a) find(w, e->a);
  if (e->b) find(w, e->b);
  if (e->c) find(w, e->c);
  return -1;
}

/* What is set under a condition is no sum. */
static void walk(work *w, const ambit__stmt *list, bool always)
{
  for (const ambit__stmt *s = list; s && !w->failed; s = s->next) {
    int sum = s->value && s->value->op != EXPR_CONST ? find(w, s->value) : -1;

    if (s->value && s->value->op == EXPR_CONST) sum = note(w, s->value);
    if (s->kind == STMT_LOCAL || s->kind == STMT_SET_LOCAL) w->local[s->index] = always ? sum : -1;
    walk(w, s->body, false);
    walk(w, s->other, false);
  }
}

bool ambit__dots_begin(ambit__dots *d, const ambit__rule *rule)
{
  work w = {d, malloc(((size_t)rule->nlocals + 1) * sizeof *w.local), false};

  *d = (ambit__dots){0};
  if (!w.local) return false;
  for (int i = 0; i < rule->nlocals; i++)
    w.local[i] = -1;
  walk(&w, rule->body, true);
  free(w.local);
  return !w.failed;
}

void ambit__dots_end(ambit__dots *d)
{
  free(d->values);
  free(d->sums);
  *d = (ambit__dots){0};
}
