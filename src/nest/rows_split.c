/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_split.c - rules that write many components, a few of them at a time.
 *
 * A star of 32 components goes along 96 rows that it reads and 32 that it writes: more than
 * prefetchers follow, and each needs a register for its address. If components share few
 * operations, the rows are walked several times, each time for some of them: 32 coupled species
 * take 0.5 to 0.6 times as long on a Xeon core. The rows stay in a cache meanwhile.
 */
#include "kernel/range.h"
#include "nest/rows.h"

#include <stdlib.h>
#include <string.h>

enum {
  MANY = 16, /* components that are written at once, at most */
  FEW = 8    /* of a walk, where there are more */
};

/* Operations of all walks over those of one: where more are shared, the rule is left whole. */
static const double MORE = 1.2;

typedef struct count {
  const ambit__rule *rule;
  bool *seen;   /* per local: counted in this walk */
  int n;        /* operations and reads */
  bool unclear; /* a local has several values, or a result is read */
} count;

static void add(count *c, const ambit__expr *e)
{
  if (!e || c->unclear) return;
  c->unclear = e->op == EXPR_OUT;
  if (e->op == EXPR_LOCAL && !c->seen[e->index]) {
    const ambit__expr *value = ambit__only_value(c->rule, e->index);

    c->seen[e->index] = true;
    c->unclear = !value;
    add(c, value);
  }
  c->n += e->op == EXPR_READ || e->op >= EXPR_NEG;
  add(c, e->a);
  add(c, e->b);
  add(c, e->c);
}

/* The number of a written component among all of them. */
static int number_of(const ambit__rule *rule, int param, int component)
{
  int n = 0;

  for (int i = 0; i <= param; i++)
    for (int c = 0; rule->params[i].kind == PARAM_FIELD && c < rule->params[i].components; c++)
      if (rule->params[i].writes[c] && (i < param || c < component)) n++;
  return n;
}

int ambit__rows_outputs(const ambit__rows_job *j)
{
  return number_of(j->n->rule, j->n->rule->nparams - 1, INT32_MAX);
}

static bool is_clear(const ambit__rule *rule)
{
  for (const ambit__stmt *s = rule->body; s; s = s->next)
    if (s->kind != STMT_LOCAL && s->kind != STMT_SET_OUT) return false;
  for (int i = 0; i < rule->nparams; i++)
    if (rule->params[i].kind == PARAM_FIELD && rule->params[i].is_written && rule->params[i].nreads)
      return false;
  return true;
}

/* Operations of the results first .. end - 1; 0: not known. */
static int operations(count *c, int first, int end)
{
  memset(c->seen, 0, (size_t)c->rule->nlocals * sizeof *c->seen);
  c->n = 0;
  for (const ambit__stmt *s = c->rule->body; s; s = s->next) {
    const int k = s->kind == STMT_SET_OUT ? number_of(c->rule, s->index, s->component) : -1;

    if (k >= first && k < end) add(c, s->value);
  }
  return c->unclear ? 0 : c->n;
}

int ambit__rows_split(const ambit__rows_job *j)
{
  const ambit__rule *rule = j->n->rule;
  const int outputs = ambit__rows_outputs(j);
  count c = {.rule = rule};
  int whole, parts = 0;

  if (outputs <= MANY || j->direct || j->folds || j->n->is_narrow || !is_clear(rule))
    return outputs;
  if (!(c.seen = calloc((size_t)rule->nlocals + 1, sizeof *c.seen))) return outputs;
  whole = operations(&c, 0, outputs);
  for (int k = 0; k < outputs; k += FEW)
    parts += operations(&c, k, k + FEW);
  free(c.seen);
  return whole && !c.unclear && parts <= MORE * whole ? FEW : outputs;
}
