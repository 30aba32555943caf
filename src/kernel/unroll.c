/* SPDX-License-Identifier: BSD-3-Clause */
/* unroll.c - from the checked tree to the statements of the rule.
 *
 * The walk executes everything constant (loops, conditions, const locals) and emits the rest. Each
 * execution of a declaration creates a new local of the rule with a unique name, so the result has
 * no scopes. Operations are counted, which bounds the running time.
 */
#include "kernel/ast.h"

#include <inttypes.h>
#include <stdio.h>

static void unroll_lines(ambit__unit *u, const ambit__line *l);

/* Of a symbol that is one value. */
static ambit__slot *make_slot(ambit__unit *u, ambit__symbol *s)
{
  s->size[0] = s->size[1] = 1;
  return s->slots = ambit__unit_new(u, 1, sizeof *s->slots);
}

static ambit__stmt *new_stmt(ambit__unit *u, ambit__stmt_kind kind, ambit__place place)
{
  ambit__stmt *s = ambit__rule_new(u, 1, sizeof *s);

  ambit__unroll_work(u, place);
  s->kind = kind;
  s->place = u->call ? *u->call : place;
  return s;
}

static void emit(ambit__unit *u, ambit__stmt *s)
{
  *u->tail = s;
  u->tail = &s->next;
}

/* ---- declarations ---- */

static const char *local_name(ambit__unit *u, const ambit__symbol *s, int element)
{
  char name[AMBIT_MAX_NAME + 32];

  if (s->naxes == 0) return ambit__name_unique(u, s->name->text);
  if (s->naxes == 1)
    snprintf(name, sizeof name, "%s_%d", s->name->text, element);
  else
    snprintf(name, sizeof name, "%s_%d_%d", s->name->text, element / (int)s->size[1],
             element % (int)s->size[1]);
  return ambit__name_unique(u, name);
}

static int add_local(ambit__unit *u, const ambit__symbol *s, int element)
{
  ambit__rule *r = u->rule;
  size_t n = (size_t)r->nlocals;

  r->locals = ambit__unit_grow(u, &r->arena, r->locals, n, &u->locals_cap, sizeof *r->locals);
  u->origins = ambit__unit_grow(u, &u->arena, u->origins, n, &u->origins_cap, sizeof *u->origins);
  r->locals[n] = (ambit__local){.name = local_name(u, s, element), .type = s->type};
  u->origins[n] = s;
  return r->nlocals++;
}

/* Declares element `element` of s, with a value or (NULL) without. */
static void unroll_element(ambit__unit *u, ambit__symbol *s, int element, const ambit__expr *value)
{
  const bool is_fixed = s->is_const || (s->is_parameter && !s->is_set);
  ambit__slot *slot = &s->slots[element];
  ambit__stmt *stmt;

  if (is_fixed && value && value->op == EXPR_CONST) {
    *slot = (ambit__slot){.is_constant = true, .value = value->value};
    ambit__unroll_work(u, s->place);
    return;
  }
  *slot = (ambit__slot){.local = add_local(u, s, element)};
  stmt = new_stmt(u, STMT_LOCAL, s->place);
  stmt->index = slot->local;
  stmt->value = value;
  emit(u, stmt);
}

static int count_list(const ambit__init *list)
{
  int n = 0;

  for (; list; list = list->next)
    n++;
  return n;
}

/* Sets the sizes of an array. */
static void unroll_sizes(ambit__unit *u, const ambit__line *l, ambit__symbol *s)
{
  static const char wrong[] = "the array '%s' has %" PRId64 " elements; it can have 1 to %d";

  s->size[0] = s->size[1] = 1;
  for (int a = l->naxes - 1; a >= 0; a--) {
    if (!l->size[a]) {
      bool is_flat = l->init->list && l->init->list->value;

      s->size[a] = count_list(l->init->list);
      if (is_flat) s->size[a] = (s->size[a] + s->size[1] - 1) / s->size[1];
    } else if (!ambit__fold_integer(u, l->size[a], "size", l->name->text, &s->size[a])) {
      ambit__unit_stop(u);
    }
    if (s->size[a] < 1 || s->size[a] > AMBIT_MAX_COMPONENTS)
      AMBIT_FATAL(u, l->size[a] ? l->size[a]->place : l->place, wrong, l->name->text, s->size[a],
                  AMBIT_MAX_COMPONENTS);
  }
  if (s->size[0] * s->size[1] > AMBIT_MAX_COMPONENTS)
    AMBIT_FATAL(u, l->place, wrong, l->name->text, s->size[0] * s->size[1], AMBIT_MAX_COMPONENTS);
}

/* Evaluates a list into `values`, at most `most` of them. */
static void unroll_list(ambit__unit *u, const ambit__line *l, const ambit__init *list,
                        const ambit__expr **values, int64_t most)
{
  for (int64_t i = 0; list; list = list->next, i++) {
    if (!list->value) {
      AMBIT_WRONG(u, list->place, "braces where a value of '%s' is expected", l->name->text);
      return;
    }
    if (i == most) {
      AMBIT_WRONG(u, list->place, "too many values for '%s', which has %" PRId64 " elements",
                  l->name->text, most);
      return;
    }
    values[i] = ambit__fold_as(u, list->value, l->type);
  }
}

/* A list of lists, one for each row. */
static void unroll_rows(ambit__unit *u, const ambit__line *l, const ambit__symbol *s,
                        const ambit__expr **values)
{
  int64_t row = 0;

  for (const ambit__init *i = l->init->list; i; i = i->next, row++) {
    if (i->value || row == s->size[0]) {
      AMBIT_WRONG(u, i->place,
                  i->value ? "a value of '%s' where a row in braces is expected"
                           : "too many rows for '%s'",
                  l->name->text);
      return;
    }
    unroll_list(u, l, i->list, values + row * s->size[1], s->size[1]);
  }
}

static void unroll_array(ambit__unit *u, const ambit__line *l, ambit__symbol *s)
{
  int n = (int)(s->size[0] * s->size[1]);
  const ambit__expr **values = ambit__unit_new(u, (size_t)n, sizeof *values);
  const ambit__syntax zero = {.kind = SYNTAX_NUMBER, .place = l->place, .type = AMBIT_I32};

  if (l->init && s->naxes == 2 && l->init->list && !l->init->list->value)
    unroll_rows(u, l, s, values);
  else if (l->init)
    unroll_list(u, l, l->init->list, values, n);
  for (int i = 0; i < n; i++) {
    if (l->init && !values[i]) values[i] = ambit__fold_as(u, &zero, l->type);
    unroll_element(u, s, i, values[i]);
  }
}

static void unroll_declaration(ambit__unit *u, const ambit__line *l)
{
  ambit__symbol *s = l->symbol;
  const ambit__expr *value = NULL;

  unroll_sizes(u, l, s);
  s->slots = ambit__unit_new(u, (size_t)(s->size[0] * s->size[1]), sizeof *s->slots);
  if (s->naxes) {
    unroll_array(u, l, s);
    return;
  }
  if (l->init) value = ambit__fold_as(u, l->init->value, l->type);
  unroll_element(u, s, 0, value);
}

/* ---- statements ---- */

static void emit_out(ambit__unit *u, ambit__place place, int param, const ambit__expr *value)
{
  ambit__stmt *s = new_stmt(u, STMT_SET_OUT, place);

  s->index = param;
  s->component = u->rule->params[param].components;
  s->value = value;
  emit(u, s);
}

/* The syntax of x in *c[i] += x or -= x, of a min or max in *c[i] = x; NULL: it is something else,
 * which is reported. */
static const ambit__syntax *amount_of(ambit__unit *u, const ambit__line *l, const ambit__param *q)
{
  const ambit__syntax *v = l->value;
  const bool adds =
      v->kind == SYNTAX_BINARY && (v->op == EXPR_ADD || v->op == EXPR_SUB) && v->a == l->target;

  if (q->reduce == REDUCE_SUM && adds) return v->b;
  if ((q->reduce == REDUCE_MIN || q->reduce == REDUCE_MAX) && v->a != l->target) return v;
  AMBIT_WRONG(u, l->place, "some subscripts of '%s' are computed\nwrite *%s[i] %s x%s", q->label,
              q->label, q->reduce == REDUCE_SUM ? "+=" : "=",
              q->reduce == REDUCE_FOLD ? ", in a sum, min or max" : "");
  return NULL;
}

/* A pair of components: see ambit__param. */
static void unroll_bin(ambit__unit *u, const ambit__line *l)
{
  const int param = l->target->symbol->param;
  ambit__param *q = &u->rule->params[param];
  const size_t pair = (size_t)q->components / 2;
  const ambit__syntax *syntax = amount_of(u, l, q);
  const ambit__expr *bin = syntax ? ambit__fold_bin(u, l->target) : NULL, **amounts;
  ambit__expr *amount;

  if (!bin) return;
  amount = ambit__fold_as(u, syntax, q->type);
  if (l->value != syntax && l->value->op == EXPR_SUB) amount = ambit__fold_minus(u, amount);
  amounts = ambit__unit_grow(u, &u->rule->arena, (void *)q->amounts, pair, &u->amounts_cap[param],
                             sizeof *amounts);
  amounts[pair] = amount->op == EXPR_CONST ? amount : NULL;
  q->amounts = amounts;
  emit_out(u, l->place, param, bin);
  q->components++;
  if (!amounts[pair]) emit_out(u, l->place, param, amount);
  q->components++;
}

static void unroll_set(ambit__unit *u, const ambit__line *l)
{
  const ambit__syntax *target = l->target;
  const ambit__slot *slot;
  ambit__stmt *s;

  if (target->symbol->kind == SYMBOL_REDUCE && u->rule->params[target->symbol->param].bins) {
    unroll_bin(u, l);
    return;
  }
  s = new_stmt(u, STMT_SET_OUT, l->place);
  s->index = target->symbol->param;
  if (target->symbol->kind == SYMBOL_LOCAL) {
    slot = ambit__fold_slot(u, target);
    if (!slot) return;
    s->kind = STMT_SET_LOCAL;
    s->index = slot->local;
  } else if (target->symbol->kind == SYMBOL_REDUCE) {
    if (!ambit__fold_reduction(u, target, &s->index, &s->component)) return;
  } else if (target->symbol->kind == SYMBOL_FIELD) {
    if (!ambit__fold_cell(u, target, &s->component, s->offset)) return;
  }
  s->value = ambit__fold_as(u, l->value, target->type);
  emit(u, s);
}

static void unroll_if(ambit__unit *u, const ambit__line *l)
{
  ambit__expr *value = ambit__fold_truth(u, l->value);
  const ambit__stmt **tail = u->tail;
  ambit__stmt *s;

  if (value->op == EXPR_CONST) {
    unroll_lines(u, value->value.integer ? l->body : l->other);
    return;
  }
  s = new_stmt(u, STMT_IF, l->place);
  s->value = value;
  u->tail = &s->body;
  unroll_lines(u, l->body);
  u->tail = &s->other;
  unroll_lines(u, l->other);
  u->tail = tail;
  if (s->body || s->other) emit(u, s);
}

static bool goes_on(ambit__op op, int64_t i, int64_t bound)
{
  return ambit__value_binary((int)op, AMBIT_I64, (ambit__value){.integer = i},
                             (ambit__value){.integer = bound})
             .integer != 0;
}

/* Advances the loop; stops the front end if the variable overflows, or the step is 0 or leads away
 * from the bound. */
static int64_t step_of(ambit__unit *u, const ambit__line *l, int64_t i)
{
  int64_t step = 1, most = l->type == AMBIT_I32 ? INT32_MAX : INT64_MAX;

  if (l->step && !ambit__fold_integer(u, l->step, "step", l->name->text, &step))
    ambit__unit_stop(u);
  if (step == INT64_MIN || step == 0) {
    AMBIT_FATAL(u, l->step->place, "the for loop steps '%s' by %" PRId64 " and would never end",
                l->name->text, step);
  }
  if (l->is_down) step = -step;
  if (step > 0 ? l->op == EXPR_GT || l->op == EXPR_GE : l->op == EXPR_LT || l->op == EXPR_LE) {
    AMBIT_FATAL(u, l->place, "the for loop steps '%s' away from its bound and would never end",
                l->name->text);
  }
  if (step > 0 ? i <= most - step : i >= -most - 1 - step) return i + step;
  AMBIT_FATAL(u, l->place, "the for loop over '%s' never ends: it leaves the range of its type",
              l->name->text);
}

static void unroll_for(ambit__unit *u, const ambit__line *l)
{
  ambit__slot slot = {.is_constant = true};
  int64_t i, bound;

  if (!ambit__fold_integer(u, l->init->value, "first value", l->name->text, &i)) return;
  slot.value.integer = i;
  slot.value = ambit__value_cast(slot.value, AMBIT_I64, l->type);
  l->symbol->slots = &slot;
  l->symbol->size[0] = l->symbol->size[1] = 1;
  for (;;) {
    ambit__unroll_work(u, l->place);
    if (!ambit__fold_integer(u, l->value, "bound", l->name->text, &bound)) break;
    if (!goes_on(l->op, slot.value.integer, bound)) break;
    unroll_lines(u, l->body);
    slot.value.integer = step_of(u, l, slot.value.integer);
  }
  l->symbol->slots = NULL;
}

static void unroll_lines(ambit__unit *u, const ambit__line *l)
{
  for (; l; l = l->next) {
    ambit__unroll_work(u, l->place);
    switch (l->kind) {
    case LINE_DECL: unroll_declaration(u, l); break;
    case LINE_SET: unroll_set(u, l); break;
    case LINE_IF: unroll_if(u, l); break;
    case LINE_FOR: unroll_for(u, l); break;
    case LINE_BLOCK: unroll_lines(u, l->body); break;
    case LINE_CALL: ambit__unroll_call(u, l->value); break;
    case LINE_RETURN: u->returned = ambit__fold(u, l->value); break;
    }
  }
}

/* ---- static functions ---- */

/* The elements of a row of a local array; stops the front end if there is no such row. */
static ambit__slot *row_of(ambit__unit *u, const ambit__syntax *arg)
{
  const ambit__symbol *from = arg->symbol;
  int64_t row;

  if (!ambit__fold_integer(u, arg->subs, "row", from->name->text, &row)) ambit__unit_stop(u);
  if (row >= 0 && row < from->size[0]) return from->slots + row * from->size[1];
  AMBIT_FATAL(u, arg->subs->place, "'%s' has no row %" PRId64 "\nits rows are 0 to %" PRId64,
              from->name->text, row, from->size[0] - 1);
}

/* The array of the caller, or a row of it, under the name of the parameter. */
static void bind_array(ambit__unit *u, const ambit__line *param, const ambit__syntax *arg)
{
  ambit__symbol *s = param->symbol;
  const ambit__symbol *from = arg->symbol;
  const ambit__symbol *table = from->kind == SYMBOL_TABLE ? from : from->table;
  const int64_t *all = table ? u->rule->tables[table->param].size : from->size;
  const ambit__expr *row = from->row;
  int64_t size[2] = {all[0], all[1]};

  if (table && arg->nsubs) row = ambit__fold_row(u, arg);
  if (arg->nsubs || row) size[0] = all[1], size[1] = 1;
  unroll_sizes(u, param, s);
  if (s->size[0] != size[0] || s->size[1] != size[1]) {
    AMBIT_FATAL(u, arg->place, "%s '%s' has %" PRId64 " elements, '%s' has %" PRId64,
                arg->nsubs ? "a row of"
                : table    ? "the table"
                           : "the array",
                from->name->text, size[0] * size[1], s->name->text, s->size[0] * s->size[1]);
  }
  s->table = table;
  s->row = row;
  s->slots = table ? NULL : arg->nsubs ? row_of(u, arg) : from->slots;
}

/* NULL: without a value. */
ambit__expr *ambit__unroll_local(ambit__unit *u, ambit__name *name, ambit_type type,
                                 const ambit__expr *value, ambit__place place)
{
  ambit__symbol *s = ambit__unit_new(u, 1, sizeof *s);

  *s = (ambit__symbol){.name = name, .type = type, .place = place};
  make_slot(u, s);
  unroll_element(u, s, 0, value);
  return ambit__fold_local(u, type, place, s->slots->local);
}

/* The value that a function returned, in a local: expressions do not grow by calls. */
static ambit__expr *keep_value(ambit__unit *u, const ambit__helper *h, ambit__expr *value,
                               ambit__place place)
{
  if (value->op == EXPR_CONST || value->op == EXPR_LOCAL) return value;
  return ambit__unroll_local(u, h->name, h->type, value, place);
}

/* All arguments are evaluated first: they may contain calls of the same function. */
ambit__expr *ambit__unroll_call(ambit__unit *u, const ambit__syntax *n)
{
  const ambit__helper *h = n->symbol->helper;
  const ambit__place *caller = u->call;
  const ambit__expr *values[AMBIT_MAX_PARAMS] = {NULL};
  const ambit__syntax *arg = n->subs;
  ambit__expr *value = NULL;
  int i = 0;

  for (const ambit__line *p = h->params; p; p = p->next, arg = arg->next, i++)
    if (!p->naxes) values[i] = ambit__fold_as(u, arg, p->type);
  arg = n->subs;
  i = 0;
  if (h->is_library && !u->call) u->call = &n->place;
  for (const ambit__line *p = h->params; p; p = p->next, arg = arg->next, i++) {
    if (p->naxes) {
      bind_array(u, p, arg);
      continue;
    }
    make_slot(u, p->symbol);
    unroll_element(u, p->symbol, 0, values[i]);
  }
  unroll_lines(u, h->body);
  if (!h->is_void) value = keep_value(u, h, ambit__fold_cast(u, u->returned, h->type), n->place);
  u->call = caller;
  return value;
}

/* The statements that set a local to the value of an expression. */
static const ambit__stmt *choose(ambit__unit *u, const ambit__syntax *n, ambit_type type, int local)
{
  const ambit__stmt *list = NULL, **tail = u->tail;
  ambit__stmt *set = new_stmt(u, STMT_SET_LOCAL, n->place);

  u->tail = &list;
  set->index = local;
  set->value = ambit__fold_as(u, n, type);
  emit(u, set);
  u->tail = tail;
  return list;
}

/* The local is declared before those of the two sides: locals have the order of declarations. */
ambit__expr *ambit__unroll_choice(ambit__unit *u, const ambit__expr *condition,
                                  const ambit__syntax *yes, const ambit__syntax *no,
                                  ambit_type type)
{
  ambit__expr *chosen =
      ambit__unroll_local(u, ambit__name_of(u, "chosen", 6), type, NULL, yes->place);
  ambit__stmt *s = new_stmt(u, STMT_IF, condition->place);

  s->value = condition;
  s->body = choose(u, yes, type, chosen->index);
  s->other = choose(u, no, type, chosen->index);
  emit(u, s);
  return chosen;
}

/* ---- the kernel ---- */

static int count_components(ambit__unit *u, const ambit__head *h)
{
  int64_t n = 1;

  if (h->components &&
      !ambit__fold_integer(u, h->components, "number of components", h->name->text, &n))
    return 1;
  if (n >= 1 && n <= AMBIT_MAX_COMPONENTS) return (int)n;
  AMBIT_WRONG(u, h->components->place, "'%s' has %" PRId64 " components; it can have 1 to %d",
              h->name->text, n, AMBIT_MAX_COMPONENTS);
  return 1;
}

static void add_param(ambit__unit *u, const ambit__head *h, ambit__name *name, int components)
{
  u->rule->params[u->rule->nparams++] =
      (ambit__param){.label = ambit__rule_text(u, name),
                     .name = ambit__name_unique(u, h->name->text),
                     .kind = h->kind,
                     .type = h->type,
                     .is_const = h->is_const,
                     .is_vector = h->is_vector && h->kind == PARAM_FIELD,
                     .components = components,
                     .head = (int)(h - u->kernel->heads),
                     .reduce = h->reduce,
                     .place = h->place};
}

/* The numbers of all components, and one more, are values of the type. */
static void check_binned(ambit__unit *u, const ambit__head *h, int n)
{
  u->rule->params[h->symbol->param].bins = n;
  if (ambit_type_size(h->type) < sizeof(int32_t))
    AMBIT_WRONG(u, h->place,
                "'%s' is a %s, and some of its subscripts are computed\nits type can be int, long, "
                "the same with unsigned, float or double",
                h->name->text, ambit_type_name(h->type));
}

/* A reduction of n values becomes n parameters, e[0] to e[n - 1], unless it is onto a field, or
 * they are too many. */
static void unroll_head(ambit__unit *u, const ambit__head *h)
{
  const int n = count_components(u, h), head = (int)(h - u->kernel->heads);
  const bool is_binned = u->binned >> head & 1;
  const bool splits =
      h->kind == PARAM_REDUCE && h->is_vector && !((u->onto | u->binned) >> head & 1) &&
      u->rule->nparams + u->rule->ntables + n + u->kernel->nheads - head - 1 <= AMBIT_MAX_PARAMS;
  char label[AMBIT_MAX_NAME + 16];

  h->symbol->param = u->rule->nparams;
  h->symbol->size[0] = n;
  if (!splits) add_param(u, h, h->name, is_binned ? 0 : n);
  if (is_binned) check_binned(u, h, n);
  for (int i = 0; splits && i < n; i++) {
    const int length = snprintf(label, sizeof label, "%s[%d]", h->name->text, i);

    add_param(u, h, ambit__name_of(u, label, (size_t)length), 1);
  }
}

/* Stops the front end if a size is wrong: all else depends on it. */
static void unroll_table(ambit__unit *u, const ambit__head *h)
{
  ambit__table *t = &u->rule->tables[u->rule->ntables];
  const int position = u->rule->nparams + u->rule->ntables;

  h->symbol->param = u->rule->ntables++;
  *t = (ambit__table){.label = ambit__rule_text(u, h->name),
                      .name = ambit__name_unique(u, h->name->text),
                      .type = h->type,
                      .naxes = h->naxes,
                      .size = {1, 1},
                      .position = position,
                      .place = h->place};
  for (int a = 0; a < h->naxes; a++) {
    if (!ambit__fold_integer(u, h->size[a], "size", h->name->text, &t->size[a]))
      ambit__unit_stop(u);
    if (t->size[a] < 1 || t->size[a] > AMBIT_MAX_TABLES)
      AMBIT_FATAL(u, h->size[a]->place, "the table '%s' has %" PRId64 " elements", h->name->text,
                  t->size[a]);
  }
}

static void check_tables(ambit__unit *u)
{
  int64_t bytes = 0;

  for (int i = 0; i < u->rule->ntables; i++) {
    const ambit__table *t = &u->rule->tables[i];

    bytes += t->size[0] * t->size[1] * (int64_t)ambit_type_size(t->type);
    if (bytes <= AMBIT_MAX_TABLES) continue;
    AMBIT_WRONG(u, t->place,
                "the tables up to '%s' have %" PRId64
                " bytes\nall tables of a kernel together have "
                "at most %d; larger ones can be fields",
                t->label, bytes, AMBIT_MAX_TABLES);
    return;
  }
}

/* Constants of the text have values that are known, so that nothing is emitted. */
static void unroll_constants(ambit__unit *u)
{
  for (const ambit__helper *h = u->helpers; h; h = h->next)
    unroll_lines(u, h->constants);
  if (u->rule->nlocals)
    AMBIT_FATAL(u, u->rule->body->place,
                "what stands outside functions must be constant\nits values are the same in all "
                "cells and steps; declare others in the kernel");
}

/* ---- functions of reductions ---- */

/* The body of a function, with locals that are numbered from 0. The rule has none yet. */
static void unroll_function(ambit__unit *u, const ambit__helper *h, ambit__folder *f)
{
  ambit__rule *r = u->rule;

  u->tail = &f->body;
  for (const ambit__line *p = h->params; p; p = p->next) {
    make_slot(u, p->symbol)->local = add_local(u, p->symbol, 0);
  }
  unroll_lines(u, h->body);
  f->value = ambit__fold_cast(u, u->returned, h->type);
  if (!u->diag.count) ambit__footprint_folder(u, f);
  f->nlocals = r->nlocals;
  f->locals = r->locals;
  if (f->nlocals > AMBIT_MAX_FOLDER)
    AMBIT_WRONG(u, h->place, "'%s' has %d locals\nthe function of a reduction has at most %d",
                h->name->text, f->nlocals, AMBIT_MAX_FOLDER);
  if (r->uses_step || r->uses_normal || r->max_axis >= 0)
    AMBIT_WRONG(
        u, h->place,
        "'%s' folds the values of a reduction, and uses a place\nindex(), extent(), step(), "
        "normal() and outside() have no meaning there: fold two values, of any cells",
        h->name->text);
  for (int i = 0; i < f->nlocals; i++) /* another function, or the kernel, may use them too */
    ambit__name_release(u, f->locals[i].name);
  r->nlocals = 0;
  r->locals = NULL;
  u->locals_cap = 0;
  r->flops = 0;
  r->mixes_double = false;
}

static ambit__folder *unroll_folder(ambit__unit *u, const ambit__head *h)
{
  ambit__folder *f = ambit__rule_new(u, 1, sizeof *f);
  const ambit__expr *x = ambit__fold_as(u, h->identity, h->type);

  if (x->op != EXPR_CONST || u->rule->nlocals) {
    AMBIT_FATAL(u, h->identity->place, "the identity of '%s' is not constant", h->name->text);
  }
  *f = (ambit__folder){
      .label = ambit__rule_text(u, h->function), .type = h->type, .identity = x->value};
  unroll_function(u, h->helper, f);
  return f;
}

static void unroll_folders(ambit__unit *u)
{
  ambit__param *params = u->rule->params;

  for (int i = 0; i < u->kernel->nheads; i++) {
    const ambit__head *h = &u->kernel->heads[i];

    if (!h->helper) continue;
    params[h->symbol->param].folder = unroll_folder(u, h);
    for (int k = 1; k < h->symbol->size[0]; k++)
      params[h->symbol->param + k].folder = params[h->symbol->param].folder;
  }
}

void ambit__unroll(ambit__unit *u)
{
  ambit__rule *r = u->rule;

  r->name = ambit__rule_text(u, u->kernel->name);
  r->params = ambit__rule_new(u, AMBIT_MAX_PARAMS, sizeof *r->params);
  r->tables = ambit__rule_new(u, (size_t)u->kernel->nheads, sizeof *r->tables);
  u->tail = &r->body;
  unroll_constants(u);
  for (int i = 0; i < u->kernel->nheads; i++)
    if (u->kernel->heads[i].kind == PARAM_TABLE)
      unroll_table(u, &u->kernel->heads[i]);
    else
      unroll_head(u, &u->kernel->heads[i]);
  check_tables(u);
  if (!u->diag.count) unroll_folders(u);
  if (u->diag.count) return;
  u->tail = &r->body;
  unroll_lines(u, u->kernel->body);
}
