/* SPDX-License-Identifier: BSD-3-Clause */
/* join.c - several rules as one, which computes in a cell what they compute one after the other.
 *
 * The canonical text of each rule becomes a block of a new text, which is parsed: so a value that
 * one rule assigns and the next one reads at the cell is a variable, and all that is known of a
 * rule (its reads, kept values and costs) is found in the one way there is.
 *
 *   void norm(const float *u, float *v) { *v = *u * *u; }
 *   void total(const float *v, sum float *s) { *s = *v; }
 *
 *   void norm_total(const float *u, float *v, sum float *s) { { *v = *u * *u; } { *s = *v; } }
 */
#include "base/text.h"
#include "kernel/ast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 60 }; /* characters of the new name that come from those of the rules */

typedef struct joining {
  ambit__errors *errors;
  int n;
  const ambit__rule *const *rules;
  const int (*param)[AMBIT_MAX_PARAMS];
  ambit__rule all; /* the head of the new rule: its name, parameters, tables and dimensions */
  ambit__param params[AMBIT_MAX_PARAMS];
  ambit__table *tables;
  ambit__arena arena; /* of names */
} joining;

/* ---- names ---- */

static bool is_local(const ambit__rule *rule, const char *name)
{
  for (int i = 0; i < rule->nlocals; i++)
    if (!strcmp(rule->locals[i].name, name)) return true;
  return false;
}

/* Whether a local of some rule or a parameter of the new one has this name. */
static bool is_taken(const joining *j, const char *name)
{
  for (int k = 0; k < j->n; k++)
    if (is_local(j->rules[k], name)) return true;
  for (int i = 0; i < j->all.nparams; i++)
    if (j->params[i].name && !strcmp(j->params[i].name, name)) return true;
  for (int i = 0; i < j->all.ntables; i++)
    if (!strcmp(j->tables[i].name, name)) return true;
  return false;
}

/* NULL: no memory. */
static const char *unique(joining *j, const char *wanted)
{
  char text[AMBIT_MAX_NAME + 16];
  const int length = snprintf(text, sizeof text, "%.*s", AMBIT_MAX_NAME - 16, wanted);

  for (int i = 1; is_taken(j, text); i++)
    snprintf(text + length, sizeof text - (size_t)length, "_%d", i);
  return ambit__arena_strndup(&j->arena, text, strlen(text));
}

/* norm_total */
static bool set_name(joining *j)
{
  char text[MOST_NAMES + AMBIT_MAX_NAME + 2] = "";
  size_t length = 0;

  for (int k = 0; k < j->n && length < MOST_NAMES; k++)
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%.*s", k ? "_" : "",
                               MOST_NAMES, j->rules[k]->name);
  j->all.name = unique(j, text);
  return j->all.name != NULL;
}

/* ---- the head ---- */

static bool add_params(joining *j, int k)
{
  const ambit__rule *rule = j->rules[k];

  for (int i = 0; i < rule->nparams; i++) {
    const ambit__param *q = &rule->params[i];
    ambit__param *to = &j->params[j->param[k][i]];

    if (to->name) {
      to->is_const &= q->is_const;
      to->is_vector |= q->is_vector;
      continue;
    }
    *to = *q;
    to->name = NULL;
    to->name = unique(j, q->name);
    if (!to->name) return false;
  }
  return true;
}

static bool add_tables(joining *j, int k)
{
  const ambit__rule *rule = j->rules[k];

  for (int i = 0; i < rule->ntables; i++) {
    ambit__table t = rule->tables[i];

    t.name = unique(j, t.name);
    if (!t.name) return false;
    t.position = j->all.nparams + j->all.ntables;
    j->tables[j->all.ntables++] = t;
  }
  return true;
}

static bool make_head(joining *j)
{
  int tables = 0;

  for (int k = 0; k < j->n; k++) {
    tables += j->rules[k]->ntables;
    for (int i = 0; i < j->rules[k]->nparams; i++)
      if (j->param[k][i] >= j->all.nparams) j->all.nparams = j->param[k][i] + 1;
    if (j->rules[k]->ndims > j->all.ndims) j->all.ndims = j->rules[k]->ndims;
  }
  j->tables = ambit__arena_alloc(&j->arena, (size_t)tables * sizeof *j->tables);
  j->all.params = j->params;
  j->all.tables = j->tables;
  if (tables && !j->tables) return false;
  for (int k = 0; k < j->n; k++)
    if (!add_params(j, k) || !add_tables(j, k)) return false;
  return set_name(j);
}

/* ---- the text ---- */

/* The statements of a rule, with the names of the new one. */
static void print_block(const joining *j, int k, int table, ambit__text *t)
{
  ambit__param params[AMBIT_MAX_PARAMS];
  ambit__rule rule = *j->rules[k];

  for (int i = 0; i < rule.nparams; i++)
    params[i] = j->params[j->param[k][i]];
  rule.params = params;
  rule.tables = j->tables + table;
  rule.ndims = j->all.ndims;
  ambit__print(t, "  {\n");
  ambit__rule_print_body(&rule, t);
  ambit__print(t, "  }\n");
}

static char *print_all(const joining *j)
{
  ambit__text t = {0};

  ambit__rule_print_head(&j->all, &t);
  ambit__print(&t, "{\n");
  for (int k = 0, table = 0; k < j->n; table += j->rules[k++]->ntables)
    print_block(j, k, table, &t);
  ambit__print(&t, "}\n");
  return ambit__text_finish(&t);
}

/* ---- all ---- */

/* What a text cannot say: the values of tables, and the face. */
static ambit_status complete(const joining *j, ambit__rule *rule)
{
  for (int i = 0; i < rule->ntables; i++)
    AMBIT_TRY(ambit__table_set(j->errors, rule, i, j->tables[i].values, j->tables[i].type));
  for (int k = 0; k < j->n; k++)
    if (j->rules[k]->has_normal) {
      rule->has_normal = true;
      memcpy(rule->normal, j->rules[k]->normal, sizeof rule->normal);
    }
  return AMBIT_OK;
}

static ambit_status join(joining *j, ambit__rule **out)
{
  ambit__errors refused = {0}; /* a limit of the language is no error of the user */
  char *text = make_head(j) ? print_all(j) : NULL;
  ambit_status s;

  AMBIT_CHECK(text, j->errors, AMBIT_ENOMEM, "no memory to join the kernel %s with others",
              j->rules[0]->name);
  s = ambit__rule_parse(&refused, "joined", text, out);
  ambit__errors_clear(&refused);
  free(text);
  if (s) *out = NULL;
  return s ? AMBIT_OK : complete(j, *out);
}

ambit_status ambit__rule_join(ambit__errors *errors, int n, const ambit__rule *const *rules,
                              const int (*param)[AMBIT_MAX_PARAMS], ambit__rule **out)
{
  joining *j = ambit__new(errors, 1, sizeof *j);
  ambit_status s;

  *out = NULL;
  if (!j) return AMBIT_ENOMEM;
  j->errors = errors;
  j->n = n;
  j->rules = rules;
  j->param = param;
  s = join(j, out);
  if (s) ambit__rule_free(*out);
  if (s) *out = NULL;
  ambit__arena_free(&j->arena);
  free(j);
  return s;
}
