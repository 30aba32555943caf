/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_bins.c - histograms: sums that count in how many cells one value is 0, 1, 2, ...
 *
 *      if (b == 0) *c[0] += 1;      or      *c[0] = b == 0;
 *      if (b == 1) *c[1] += 1;              *c[1] = b == 1;
 *
 * A comparison for each takes as long as there are sums. So the numbers of a vector of cells are
 * kept, and cell after cell adds 1 in a table; other numbers are counted in its last element. There
 * are some tables, since cells beside each other often have the same number, and an addition waits
 * for the one before it at the same place. Of 16 sums of floats that took 0.4 of the time.
 */
#include "nest/rows.h"

#include <math.h>

typedef ambit__rows_job job;

enum { LEAST = 8, TABLES = 4, FAR = 1 << 24 /* a float has all integers up to there */ };

/* ---- what is counted ---- */

static bool adds_one(const ambit__expr *e, int param)
{
  if (e->op == EXPR_ADD && e->a->op == EXPR_OUT && e->a->index == param) e = e->b;
  return e->op == EXPR_CONST && e->value.integer == 1;
}

/* The comparison with a number that a statement counts, and the sum; NULL: none. */
static const ambit__expr *counted(const ambit__rule *rule, const ambit__stmt *s, int *sum)
{
  const bool is_if = s->kind == STMT_IF && s->body && !s->body->next && !s->other;
  const ambit__stmt *set = is_if ? s->body : s;
  const ambit__param *p = &rule->params[set->index];
  const ambit__expr *test = s->value;

  if (set->kind != STMT_SET_OUT || p->kind != PARAM_REDUCE || p->reduce != REDUCE_SUM ||
      ambit__type_is_real(p->type) || (is_if && !adds_one(set->value, set->index)))
    return NULL;
  while (!is_if && test->op == EXPR_CAST)
    test = test->a;
  *sum = set->index;
  return test->op == EXPR_EQ && test->b->op == EXPR_CONST ? test : NULL;
}

typedef struct uses {
  int sets[AMBIT_MAX_PARAMS], reads[AMBIT_MAX_PARAMS];
} uses;

static ambit__visit note_set(void *user, const ambit__stmt *s)
{
  uses *u = user;

  if (s->kind == STMT_SET_OUT) u->sets[s->index]++;
  return VISIT_INSIDE;
}

static ambit__visit note_read(void *user, const ambit__expr *e)
{
  uses *u = user;

  if (e->op == EXPR_OUT) u->reads[e->index]++;
  return VISIT_INSIDE;
}

/* Whether nothing else sets or reads the sum of a statement. */
static bool is_alone(const uses *u, const ambit__stmt *s, int sum)
{
  return u->sets[sum] == 1 &&
         u->reads[sum] == (s->kind == STMT_IF && s->body->value->op == EXPR_ADD);
}

/* A value, and whether a variable in it is set. */
typedef struct change {
  const ambit__stmt *set;
  const ambit__expr *value;
  bool found;
} change;

static ambit__visit find_variable(void *user, const ambit__expr *e)
{
  change *c = user;
  const ambit__op op = c->set->kind == STMT_SET_OUT ? EXPR_OUT : EXPR_LOCAL;

  c->found |= e->op == op && e->index == c->set->index;
  return VISIT_INSIDE;
}

static ambit__visit find_change(void *user, const ambit__stmt *s)
{
  change *c = user;

  c->set = s;
  if (s->kind == STMT_SET_LOCAL || s->kind == STMT_SET_OUT)
    ambit__visit_expr(&(ambit__visitor){.expr = find_variable, .user = c}, c->value);
  return VISIT_INSIDE;
}

/* Whether the value that n statements from s on compare is the same at the end of the cell. */
static bool is_kept(const ambit__rule *rule, const ambit__stmt *s, int n)
{
  int sum;
  change c = {.value = counted(rule, s, &sum)->a};

  while (n-- > 0)
    s = s->next;
  ambit__visit_stmts(&(ambit__visitor){.stmt = find_change, .user = &c}, s);
  return !c.found;
}

/* The statements from s on that count the same value, the next number each. */
static int count_bins(const ambit__rule *rule, const uses *u, const ambit__stmt *s)
{
  const ambit__expr *first = NULL;
  double low = 0;
  int n = 0, sum;

  for (; s; s = s->next, n++) {
    const ambit__expr *test = counted(rule, s, &sum);

    if (!test || !is_alone(u, s, sum)) break;
    if (!first) {
      first = test;
      low = ambit__value_number(test->b->value, test->b->type);
    }
    if (!(fabs(low) < FAR) || low != (int)low ||
        ambit__value_number(test->b->value, test->b->type) != low + n ||
        !ambit__expr_is_same(test->a, first->a))
      break;
  }
  return n;
}

void ambit__rows_begin_bins(job *j)
{
  ambit__nest *n = j->n;
  uses u = {{0}, {0}};
  int sum;

  if (!j->reduces || !j->lanes || j->form) return;
  ambit__visit_stmts(&(ambit__visitor){note_set, note_read, &u}, n->rule->body);
  for (const ambit__stmt *s = n->rule->body; s && !n->nbins; s = s->next) {
    const int k = count_bins(n->rule, &u, s);

    if (k < LEAST || !is_kept(n->rule, s, k)) continue;
    n->bins = s;
    n->nbins = k;
  }
  for (int k = 0; k < n->nbins; k++) {
    counted(n->rule, ambit__nest_bin(n, k), &sum);
    n->is_counted[sum] = true;
  }
}

/* ---- nodes ---- */

void ambit__rows_let_tables(job *j)
{
  if (j->n->nbins) ambit__nest_do(j->n, "int64_t bins[%d] = {0}", TABLES * (j->n->nbins + 1));
}

void ambit__rows_add_tables(job *j)
{
  ambit__nest *n = j->n;
  int sum;

  for (int k = 0; k < n->nbins; k++) {
    counted(n->rule, ambit__nest_bin(n, k), &sum);
    for (int t = 0; t < TABLES; t++)
      ambit__nest_do(n, "*%s_sum += bins[%d]", ambit__nest_name(n, sum), t * (n->nbins + 1) + k);
  }
}

void ambit__rows_let_bins(job *j)
{
  for (int r = 0; j->n->nbins && r < j->count; r++)
    ambit__nest_do(j->n, "int32_t bin%d[LANES] __attribute__((aligned(AMBIT_VECTOR)))", r);
}

/* Comparisons of what is no number are false. */
void ambit__rows_keep_bin(job *j, int r, int inside)
{
  ambit__nest *n = j->n;
  const ambit__node rule = {.kind = NODE_RULE, .inside = inside, .row = r};
  const ambit__expr *test;
  const char *value;
  int sum, low;

  if (!n->nbins) return;
  test = counted(n->rule, n->bins, &sum);
  value = ambit__nest_expr(n, &rule, test->a);
  low = (int)ambit__value_number(test->b->value, test->b->type);
  if (test->a->type == AMBIT_I32) {
    ambit__nest_do(n, "bin%d[l] = (ambit_u32)%s - %d < %du ? %s - %d : %d", r, value, low, n->nbins,
                   value, low, n->nbins);
    return;
  }
  ambit__nest_do(n,
                 "bin%d[l] = (%s >= %d) & (%s < %d) & (%s == (int32_t)%s) ? (int32_t)%s - %d : %d",
                 r, value, low, value, low + n->nbins, value, value, value, low, n->nbins);
}

void ambit__rows_count(job *j, bool ragged)
{
  for (int r = 0; j->n->nbins && r < j->count; r++)
    ambit__nest_do(j->n, "ambit_count(bins, %d, bin%d, %s)", j->n->nbins + 1, r,
                   ragged ? "x < x0 ? x0 - x : 0, x + LANES < x1 ? LANES : x1 - x" : "0, LANES");
}
