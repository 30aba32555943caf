/* SPDX-License-Identifier: BSD-3-Clause */
#include "nest/shares.h"

#include <stdlib.h>
#include <string.h>

/* ---- the list ---- */

static bool same(const ambit__share *x, const ambit__share *y)
{
  return x->param == y->param && x->component == y->component && x->n == y->n &&
         !memcmp(x->offset, y->offset, sizeof x->offset) &&
         !memcmp(x->at, y->at, (size_t)x->n * sizeof *x->at) &&
         !memcmp(x->weights, y->weights, (size_t)x->n * sizeof *x->weights);
}

static int add(ambit__shares *s, const ambit__share *new)
{
  ambit__share *list;

  for (int i = 0; i < s->n; i++)
    if (same(&s->list[i], new)) return i;
  if (s->n == s->room) {
    list = realloc(s->list, (size_t)(2 * s->room + 16) * sizeof *list);
    s->failed = s->failed || !list;
    if (!list) return 0;
    s->list = list;
    s->room = 2 * s->room + 16;
  }
  s->list[s->n] = *new;
  return s->n++;
}

/* An empty share in the row of a read. */
static ambit__share row_of(const ambit__shares *s, const ambit__expr *e)
{
  ambit__share share = {.param = e->index, .component = e->component};

  memcpy(share.offset, e->offset, sizeof share.offset);
  share.offset[s->last] = 0;
  return share;
}

int ambit__shares_read(ambit__shares *s, const ambit__expr *e)
{
  ambit__share share = row_of(s, e);

  share.n = 1;
  share.at[0] = e->offset[s->last];
  share.weights[0] = 1;
  return add(s, &share);
}

ambit__range ambit__share_range(const ambit__shares *s, int share)
{
  const ambit__share *x = &s->list[share];
  const ambit__range all = ambit__range_of_type(s->rule->params[x->param].type);
  ambit__range sum = {0, 0};

  for (int i = 0; i < x->n; i++) {
    sum.low += x->weights[i] * (x->weights[i] > 0 ? all.low : all.high);
    sum.high += x->weights[i] * (x->weights[i] > 0 ? all.high : all.low);
  }
  return sum;
}

/* ---- sums ---- */

/* Inserts a term in order. */
static void insert(ambit__share *x, int at, int weight)
{
  int i = x->n++;

  for (; i > 0 && x->at[i - 1] > at; i--) {
    x->at[i] = x->at[i - 1];
    x->weights[i] = x->weights[i - 1];
  }
  x->at[i] = at;
  x->weights[i] = weight;
}

static int common_divisor(int a, int b)
{
  return b ? common_divisor(b, a % b) : a;
}

/* Divides the weights by a factor that similar shares may differ by, and returns it. */
static int reduce(ambit__share *x)
{
  int factor = 0, largest = 0;

  for (int i = 0; i < x->n; i++) {
    factor = common_divisor(factor, abs(x->weights[i]));
    if (abs(x->weights[i]) >= abs(x->weights[largest])) largest = i;
  }
  if (x->weights[largest] < 0) factor = -factor;
  for (int i = 0; i < x->n; i++)
    x->weights[i] /= factor;
  return factor;
}

static bool in_row(const ambit__shares *s, const ambit__share *x, const ambit__expr *e)
{
  const ambit__share row = row_of(s, e);

  return row.param == x->param && row.component == x->component &&
         !memcmp(row.offset, x->offset, sizeof row.offset);
}

int ambit__shares_sum(ambit__shares *s, const ambit__dot *sum, ambit__share_term *terms)
{
  bool done[AMBIT__DOT_TERMS] = {false};
  int n = 0;

  for (int i = 0; i < sum->n; i++) {
    ambit__share row = row_of(s, sum->reads[i]);

    if (done[i]) continue;
    for (int k = i; k < sum->n; k++)
      if (in_row(s, &row, sum->reads[k])) {
        done[k] = true;
        if (sum->weights[k]) insert(&row, sum->reads[k]->offset[s->last], sum->weights[k]);
      }
    if (!row.n) continue;
    terms[n].factor = reduce(&row);
    terms[n++].share = add(s, &row);
  }
  return n;
}

/* ---- the rule ---- */

/* The locals that an expression reads, beside sums. */
typedef struct lives {
  const ambit__shares *s;
  bool *live;
} lives;

static ambit__visit find_live(void *user, const ambit__expr *e)
{
  const lives *l = user;

  if (ambit__dots_find(&l->s->dots, e)) return VISIT_PAST;
  if (e->op == EXPR_LOCAL) l->live[e->index] = true;
  return VISIT_INSIDE;
}

static ambit__visit collect(void *user, const ambit__expr *e)
{
  ambit__shares *s = user;
  const ambit__dot *sum = ambit__dots_find(&s->dots, e);
  ambit__share_term terms[AMBIT__DOT_TERMS];

  if (sum) ambit__shares_sum(s, sum, terms);
  if (!sum && e->op == EXPR_READ) ambit__shares_read(s, e);
  return sum ? VISIT_PAST : VISIT_INSIDE;
}

static ambit__visit pass_idle(void *user, const ambit__stmt *st)
{
  return ambit__shares_idle(user, st) ? VISIT_PAST : VISIT_INSIDE;
}

/* From the last statement to the first: assignments to locals that nothing after them reads. */
static void find_idle(ambit__shares *s, const ambit__stmt **all, int n, bool *live)
{
  lives l = {s, live};
  const ambit__visitor v = {.expr = find_live, .user = &l};

  while (n-- > 0) {
    const ambit__stmt *st = all[n];
    const bool sets = st->kind == STMT_SET_LOCAL || st->kind == STMT_LOCAL;

    if (st->kind == STMT_SET_LOCAL && !live[st->index]) {
      s->idle[s->nidle++] = st;
      continue;
    }
    if (sets) live[st->index] = false;
    ambit__visit_expr(&v, st->value);
    ambit__visit_stmts(&v, st->body);
    ambit__visit_stmts(&v, st->other);
  }
}

bool ambit__shares_idle(const ambit__shares *s, const ambit__stmt *st)
{
  for (int i = 0; i < s->nidle; i++)
    if (s->idle[i] == st) return true;
  return false;
}

bool ambit__shares_begin(ambit__shares *s, const ambit__rule *rule, int ndims)
{
  bool *live = calloc((size_t)rule->nlocals + 1, sizeof *live);
  const ambit__stmt **all = NULL;
  int n = 0;

  *s = (ambit__shares){.rule = rule, .last = ndims - 1, .failed = true};
  for (const ambit__stmt *st = rule->body; st; st = st->next)
    n++;
  all = calloc((size_t)n + 1, sizeof *all);
  s->idle = calloc((size_t)n + 1, sizeof *s->idle);
  if (live && all && s->idle && ambit__dots_begin(&s->dots, rule)) {
    s->failed = false;
    n = 0;
    for (const ambit__stmt *st = rule->body; st; st = st->next)
      all[n++] = st;
    find_idle(s, all, n, live);
    ambit__visit_stmts(&(ambit__visitor){.stmt = pass_idle, .expr = collect, .user = s},
                       rule->body);
  }
  free(live);
  free(all);
  return !s->failed;
}

void ambit__shares_end(ambit__shares *s)
{
  ambit__dots_end(&s->dots);
  free(s->list);
  free(s->idle);
  *s = (ambit__shares){0};
}
