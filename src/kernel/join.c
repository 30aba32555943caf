/* SPDX-License-Identifier: BSD-3-Clause */
/* join.c - several rules as one, which computes in a cell what they compute one after the other.
 *
 * Parameters become those of the new rule, tables and locals get new names, and statements are
 * copied. Old values that a rule keeps are reads again: footprint.c, which comes next, finds those
 * that are variables, now also of components that an earlier rule assigns.
 *
 *   void norm(const float *u, float *v) { *v = *u * *u; }
 *   void total(const float *v, sum float *s) { *s = *v; }
 *
 *   void norm_total(const float *u, float *v, sum float *s) { *v = *u * *u; *s = *v; }
 */
#include "kernel/ast.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 60 }; /* characters of the new name that come from those of the rules */

typedef struct copier {
  ambit__unit *u;
  const ambit__rule *from;
  const int *param; /* in the new rule, by parameter of `from` */
  int first_table;  /* ... table 0 of `from` */
  int first_local;  /* ... local 0 */
} copier;

/* ---- statements ---- */

static const ambit__expr *copy_expr(const copier *c, const ambit__expr *from)
{
  ambit__expr *e;

  if (!from) return NULL;
  e = ambit__rule_new(c->u, 1, sizeof *e);
  *e = *from;
  e->a = copy_expr(c, from->a);
  e->b = copy_expr(c, from->b);
  e->c = copy_expr(c, from->c);
  if (e->op == EXPR_OUT && c->from->params[e->index].kind == PARAM_FIELD) e->op = EXPR_READ;
  if (e->op == EXPR_LOCAL) e->index += c->first_local;
  if (e->op == EXPR_TABLE) e->index += c->first_table;
  if (e->op == EXPR_VALUE || e->op == EXPR_READ || e->op == EXPR_OUT) e->index = c->param[e->index];
  return e;
}

/* Copies a list to *tail. Returns its end. */
static const ambit__stmt **copy_list(const copier *c, const ambit__stmt *from,
                                     const ambit__stmt **tail)
{
  for (; from; from = from->next) {
    ambit__stmt *s = ambit__rule_new(c->u, 1, sizeof *s);

    *s = *from;
    s->value = copy_expr(c, from->value);
    s->body = s->other = s->next = NULL;
    copy_list(c, from->body, &s->body);
    copy_list(c, from->other, &s->other);
    if (s->kind == STMT_SET_OUT)
      s->index = c->param[s->index];
    else if (s->kind != STMT_IF)
      s->index += c->first_local;
    *tail = s;
    tail = &s->next;
  }
  return tail;
}

/* ---- the head ---- */

static const char *copy_text(ambit__unit *u, const char *text)
{
  const size_t bytes = strlen(text) + 1;

  return memcpy(ambit__rule_new(u, bytes, 1), text, bytes);
}

static const ambit__folder *copy_folder(const copier *c, const ambit__folder *from)
{
  const copier own = {.u = c->u, .from = c->from};
  ambit__folder *f = ambit__rule_new(c->u, 1, sizeof *f);
  ambit__local *locals = ambit__rule_new(c->u, (size_t)from->nlocals, sizeof *locals);

  *f = *from;
  f->label = copy_text(c->u, from->label);
  f->locals = locals;
  for (int i = 0; i < from->nlocals; i++)
    locals[i] =
        (ambit__local){.name = copy_text(c->u, from->locals[i].name), .type = from->locals[i].type};
  copy_list(&own, from->body, &f->body);
  f->value = copy_expr(&own, from->value);
  return f;
}

/* What the front end says of a parameter before footprint.c. */
static void add_param(const copier *c, const ambit__param *from, int at)
{
  ambit__rule *rule = c->u->rule;
  ambit__param *to = &rule->params[at];

  if (at >= rule->nparams) rule->nparams = at + 1;
  if (to->name) {
    to->is_const &= from->is_const;
    to->is_vector |= from->is_vector;
    return;
  }
  *to = (ambit__param){.label = copy_text(c->u, from->label),
                       .name = ambit__name_unique(c->u, from->name),
                       .kind = from->kind,
                       .type = from->type,
                       .is_const = from->is_const,
                       .is_vector = from->is_vector,
                       .components = from->components,
                       .head = at,
                       .reduce = from->reduce,
                       .folder = from->folder ? copy_folder(c, from->folder) : NULL,
                       .place = from->place};
}

static void add_table(const copier *c, const ambit__table *from)
{
  ambit__rule *rule = c->u->rule;
  ambit__table *to = &rule->tables[rule->ntables++];
  const size_t bytes = (size_t)(from->size[0] * from->size[1]) * ambit_type_size(from->type);

  *to = *from;
  to->label = copy_text(c->u, from->label);
  to->name = ambit__name_unique(c->u, from->name);
  to->values = memcpy(ambit__rule_new(c->u, bytes, 1), from->values, bytes);
}

static void add_locals(const copier *c)
{
  ambit__rule *rule = c->u->rule;

  for (int i = 0; i < c->from->nlocals; i++)
    rule->locals[rule->nlocals++] = (ambit__local){
        .name = ambit__name_unique(c->u, c->from->locals[i].name), .type = c->from->locals[i].type};
}

static void make_head(ambit__unit *u)
{
  const ambit__joining *j = u->joining;
  ambit__rule *to = u->rule;
  char name[2 * MOST_NAMES + 2] = "";
  size_t length = 0, tables = 0, locals = 0;

  for (int k = 0; k < j->n; k++) {
    const ambit__rule *rule = j->rules[k];

    if (length < MOST_NAMES)
      length += (size_t)snprintf(name + length, sizeof name - length, "%s%.*s", k ? "_" : "",
                                 MOST_NAMES, rule->name);
    tables += (size_t)rule->ntables;
    locals += (size_t)rule->nlocals;
    if (rule->ndims > to->ndims) to->ndims = rule->ndims;
    if (!rule->has_normal) continue;
    to->has_normal = true;
    memcpy(to->normal, rule->normal, sizeof to->normal);
  }
  to->name = copy_text(u, name);
  to->params = ambit__rule_new(u, AMBIT_MAX_PARAMS, sizeof *to->params);
  to->tables = ambit__rule_new(u, tables, sizeof *to->tables);
  to->locals = ambit__rule_new(u, locals, sizeof *to->locals);
  /* footprint.c names locals without values, of which there are none */
  u->origins = ambit__unit_new(u, locals, sizeof *u->origins);
}

/* ---- all ---- */

void ambit__join(ambit__unit *u)
{
  const ambit__joining *j = u->joining;
  const ambit__stmt **tail = &u->rule->body;
  copier *c = ambit__unit_new(u, (size_t)j->n, sizeof *c);

  make_head(u);
  for (int k = 0; k < j->n; k++) {
    c[k] = (copier){
        .u = u, .from = j->rules[k], .param = j->param[k], .first_table = u->rule->ntables};
    for (int i = 0; i < c[k].from->nparams; i++)
      add_param(&c[k], &c[k].from->params[i], c[k].param[i]);
    for (int i = 0; i < c[k].from->ntables; i++)
      add_table(&c[k], &c[k].from->tables[i]);
  }
  for (int i = 0; i < u->rule->ntables; i++)
    u->rule->tables[i].position = u->rule->nparams + i;
  for (int k = 0; k < j->n; k++) {
    c[k].first_local = u->rule->nlocals;
    add_locals(&c[k]);
    tail = copy_list(&c[k], c[k].from->body, tail);
  }
}
