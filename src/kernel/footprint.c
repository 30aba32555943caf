/* SPDX-License-Identifier: BSD-3-Clause */
/* footprint.c - the footprint of a rule: which cells it reads and writes, and its cost.
 *
 * Three passes over the finished statements:
 *   1. writes:  the components that are assigned anywhere, and the offset of each, its target;
 *               reads at the target become the variable EXPR_OUT;
 *   2. flow:    in order of execution, the variables that have a value on every path. A local read
 *               before that is a mistake; a component read before that, or not written on every
 *               path, keeps its old value;
 *   3. reads:   the distinct offsets of every field, sorted.
 *
 * The flow pass keeps a journal of the variables that got a value. Both sides of an if are walked
 * from the same state: additions of each side are undone after it, and those of both sides are
 * redone.
 */
#include "kernel/ast.h"
#include "kernel/range.h"
#include "kernel/rewrite.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TESTED = 64 }; /* that hold at once; more are not noticed */

/* What conditions around an expression say. */
typedef struct knowledge {
  /* cells at this distance or nearer, per axis and side, are in the grid: outside() said so */
  int inside[AMBIT_MAX_DIMS][2];
  const ambit__expr *tested[MOST_TESTED]; /* tests of outside() that gave 0 */
  int ntested;
} knowledge;

typedef struct flow {
  ambit__unit *u;
  ambit__rule *rule;
  bool *has_value;             /* per variable: the locals, then the components of each parameter */
  bool *in_both;               /* per variable: scratch for visit_if */
  int *journal;                /* variables that have got a value, in order */
  int length;                  /* of it */
  int first[AMBIT_MAX_PARAMS]; /* variable of component 0 of a parameter */
  bool *writes[AMBIT_MAX_PARAMS]; /* as in ambit__param */
  bool *keeps[AMBIT_MAX_PARAMS];
  int (*targets[AMBIT_MAX_PARAMS])[AMBIT_MAX_DIMS];
  ambit__read *reads;
  size_t nreads, reads_cap;
  bool touches_field; /* some field is read or written */
  knowledge now;
} flow;

/* ---- 1. writes ---- */

/* All writes of a component are at one offset. */
static ambit__visit note_write(void *user, const ambit__stmt *s)
{
  flow *f = user;
  int *target;

  if (s->kind != STMT_SET_OUT) return VISIT_INSIDE;
  target = f->targets[s->index][s->component];
  if (f->writes[s->index][s->component] && memcmp(target, s->offset, sizeof s->offset) != 0)
    AMBIT_WRONG(f->u, s->place,
                "%s is written here, and %s elsewhere in the kernel\na component of a field is "
                "written at one offset, so that no two cells write the same value",
                ambit__cell_name(f->u, s->index, s->component, s->offset),
                ambit__cell_name(f->u, s->index, s->component, target));
  f->writes[s->index][s->component] = true;
  memcpy(target, s->offset, sizeof s->offset);
  return VISIT_INSIDE;
}

static void check_written(flow *f)
{
  int results = 0;

  for (int i = 0; i < f->rule->nparams; i++) {
    ambit__param *p = &f->rule->params[i];
    const char *name = p->label;

    for (int c = 0; c < p->components; c++)
      p->is_written |= f->writes[i][c];
    results += p->kind == PARAM_REDUCE || (p->kind == PARAM_FIELD && !p->is_const);
    if (p->is_written || p->is_const) continue;
    if (p->kind == PARAM_REDUCE)
      AMBIT_WRONG(f->u, p->place,
                  "the reduction '%s' is never written\nassign to *%s, or remove the parameter",
                  name, name);
    else if (p->kind == PARAM_FIELD)
      AMBIT_WRONG(f->u, p->place, "the field '%s' is never written\ndeclare it const: const %s *%s",
                  name, ambit_type_name(p->type), name);
  }
  if (!results)
    AMBIT_WRONG(f->u, f->u->kernel->name_place,
                "the kernel '%s' has no result\na result is a field that is not const (float *v) "
                "or a reduction (sum float *r)",
                f->rule->name);
}

/* ---- costs ---- */

static void count_costs(ambit__rule *r, const ambit__expr *e)
{
  bool is_arithmetic = e->op == EXPR_CALL || (e->op >= EXPR_ADD && e->op <= EXPR_DIV);

  r->flops += ambit__expr_flops(e);
  if (is_arithmetic && e->type == AMBIT_F64) r->mixes_double = true;
  if (e->op == EXPR_STEP) r->uses_step = true;
  if (e->op == EXPR_CALL && e->call == CALL_fma) r->uses_fma = true;
  if (e->op == EXPR_NORMAL) r->uses_normal = true;
  if ((e->op == EXPR_INDEX || e->op == EXPR_EXTENT || e->op == EXPR_NORMAL) &&
      e->index > r->max_axis)
    r->max_axis = e->index;
}

/* Whether computing in double deserves a warning. */
static bool all_fields_are_float(const ambit__rule *r)
{
  int fields = 0;

  for (int i = 0; i < r->nparams; i++) {
    if (r->params[i].kind != PARAM_FIELD) continue;
    if (r->params[i].type != AMBIT_F32 && !ambit__type_is_half(r->params[i].type)) return false;
    fields++;
  }
  return fields > 0;
}

/* ---- 2. flow ---- */

static void give_value(flow *f, int variable)
{
  if (f->has_value[variable]) return;
  f->has_value[variable] = true;
  f->journal[f->length++] = variable;
}

static bool is_tested(const knowledge *k, const int *offset)
{
  for (int i = 0; i < k->ntested; i++)
    if (!memcmp(k->tested[i]->offset, offset, sizeof k->tested[i]->offset)) return true;
  return false;
}

static bool add_read(flow *f, int param, int component, const int *offset, ambit__place place)
{
  ambit__read *r;

  f->reads = ambit__unit_grow(f->u, &f->u->arena, f->reads, f->nreads, &f->reads_cap, sizeof *r);
  r = &f->reads[f->nreads++];
  *r = (ambit__read){.param = param,
                     .component = component,
                     .is_tested = is_tested(&f->now, offset),
                     .place = place};
  memcpy(r->offset, offset, sizeof r->offset);
  return r->is_tested;
}

static void keep(flow *f, int param, int component, ambit__place place)
{
  if (f->rule->params[param].kind != PARAM_FIELD || f->keeps[param][component]) return;
  f->keeps[param][component] = true;
  add_read(f, param, component, f->targets[param][component], place);
}

static void read_local(flow *f, const ambit__expr *e)
{
  const ambit__symbol *s = f->u->origins[e->index];

  if (f->has_value[e->index]) return;
  if (s->naxes)
    AMBIT_WRONG(f->u, e->place,
                "an element of '%s' (%s) is read before it has a value\nit was declared at line "
                "%d; give it a value on every path to here",
                s->name->text, f->rule->locals[e->index].name, s->place.line);
  else
    AMBIT_WRONG(f->u, e->place,
                "'%s' is read before it has a value\nit was declared at line %d; give it a value "
                "there, or on every path to here",
                s->name->text, s->place.line);
}

/* Notes the faces of the grid that a condition excludes, if it is true, or false. */
static void learn(knowledge *k, const ambit__expr *e, bool holds)
{
  if (e->is_outside) {
    if (holds) return;
    if (k->ntested < MOST_TESTED) k->tested[k->ntested++] = e;
    for (int d = 0; d < AMBIT_MAX_DIMS; d++) {
      const int side = e->offset[d] > 0, distance = side ? e->offset[d] : -e->offset[d];

      if (distance > k->inside[d][side]) k->inside[d][side] = distance;
    }
  } else if (e->op == EXPR_NOT) {
    learn(k, e->a, !holds);
  } else if (e->op == (holds ? EXPR_LAND : EXPR_LOR)) {
    learn(k, e->a, holds);
    learn(k, e->b, holds);
  }
}

static void visit(flow *f, const ambit__expr *expr);

/* Visits an expression that is used only if a condition holds, or does not. */
static void visit_under(flow *f, const ambit__expr *condition, bool holds, const ambit__expr *e)
{
  const knowledge before = f->now;

  learn(&f->now, condition, holds);
  visit(f, e);
  f->now = before;
}

static void note_crossings(flow *f, int param, const int *offset)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++) {
    const int side = offset[d] > 0, distance = side ? offset[d] : -offset[d];

    if (distance > f->now.inside[d][side]) f->rule->params[param].crosses[d][side] = true;
  }
}

/* A read at the target is the variable. Other reads of a component that is written at a neighbour
 * would meet the writes of other cells. */
static void visit_read(flow *f, ambit__expr *e)
{
  const int *target = f->targets[e->index][e->component];
  const bool written = f->writes[e->index][e->component];

  f->touches_field = true;
  note_crossings(f, e->index, e->offset);
  if (written && !memcmp(e->offset, target, sizeof e->offset)) {
    e->op = EXPR_OUT;
    return;
  }
  if (written && !ambit__offset_is_zero(target))
    AMBIT_WRONG(f->u, e->place,
                "%s is read here, and %s is written\na component that is written at a neighbour is "
                "read only there: another cell writes this one, earlier or later",
                ambit__cell_name(f->u, e->index, e->component, e->offset),
                ambit__cell_name(f->u, e->index, e->component, target));
  e->is_tested = add_read(f, e->index, e->component, e->offset, e->place);
}

/* The rule is still under construction: this is the only place that modifies an expression. */
static void visit(flow *f, const ambit__expr *expr)
{
  ambit__expr *e = (ambit__expr *)expr;

  if (!e) return;
  count_costs(f->rule, e);
  if (e->op == EXPR_READ) visit_read(f, e);
  if (e->op == EXPR_OUT && !f->has_value[f->first[e->index] + e->component])
    keep(f, e->index, e->component, e->place);
  if (e->op == EXPR_LOCAL) read_local(f, e);
  visit(f, e->a);
  if (e->op == EXPR_COND) {
    visit_under(f, e->a, true, e->b);
    visit_under(f, e->a, false, e->c);
  } else if (e->op == EXPR_LAND || e->op == EXPR_LOR) {
    visit_under(f, e->a, e->op == EXPR_LAND, e->b);
  } else {
    visit(f, e->b);
    visit(f, e->c);
  }
}

static void visit_all(flow *f, const ambit__stmt *s);

/* Undoes the journal back to `mark`. */
static void take_back(flow *f, int mark)
{
  while (f->length > mark)
    f->has_value[f->journal[--f->length]] = false;
}

/* Keeps the values that both sides of an if give. */
static void visit_if(flow *f, const ambit__stmt *s)
{
  const knowledge before = f->now;
  int mark = f->length, added;
  int *first;

  visit(f, s->value);
  learn(&f->now, s->value, true);
  visit_all(f, s->body);
  f->now = before;
  added = f->length - mark;
  first = ambit__unit_new(f->u, (size_t)added, sizeof *first);
  memcpy(first, f->journal + mark, (size_t)added * sizeof *first);
  take_back(f, mark);
  learn(&f->now, s->value, false);
  visit_all(f, s->other);
  f->now = before;
  for (int i = 0; i < added; i++)
    f->in_both[first[i]] = false;
  for (int i = mark; i < f->length; i++)
    f->in_both[f->journal[i]] = true;
  take_back(f, mark);
  for (int i = 0; i < added; i++)
    if (f->in_both[first[i]]) give_value(f, first[i]);
}

static void visit_all(flow *f, const ambit__stmt *s)
{
  for (; s; s = s->next) {
    if (s->kind == STMT_IF) {
      visit_if(f, s);
      continue;
    }
    visit(f, s->value);
    if (s->kind == STMT_SET_OUT) {
      f->touches_field |= f->rule->params[s->index].kind == PARAM_FIELD;
      note_crossings(f, s->index, s->offset);
      give_value(f, f->first[s->index] + s->component);
    } else if (s->value) {
      give_value(f, s->index);
    }
  }
}

/* ---- 3. reads ---- */

static int compare_cells(const ambit__read *a, const ambit__read *b)
{
  if (a->param != b->param) return a->param < b->param ? -1 : 1;
  if (a->component != b->component) return a->component < b->component ? -1 : 1;
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (a->offset[d] != b->offset[d]) return a->offset[d] < b->offset[d] ? -1 : 1;
  return 0;
}

static int compare_reads(const void *x, const void *y)
{
  const ambit__read *a = x, *b = y;
  int c = compare_cells(a, b);

  if (!c) c = a->is_tested - b->is_tested; /* tested only if all reads of the cell are */
  return c ? c : (a->place.offset > b->place.offset) - (a->place.offset < b->place.offset);
}

/* Gives parameters their reads, and how far these reach. `kept` has room for all. */
static void set_reads(ambit__rule *rule, ambit__read *all, size_t n, ambit__read *kept)
{
  for (int i = 0; i < rule->nparams; i++) {
    ambit__param *p = &rule->params[i];

    p->reads = NULL;
    p->nreads = 0;
    p->reads_neighbours = false;
    memset(p->low, 0, sizeof p->low);
    memset(p->high, 0, sizeof p->high);
  }
  if (n) qsort(all, n, sizeof *all, compare_reads);
  for (size_t i = 0; i < n; i++) {
    ambit__param *p = &rule->params[all[i].param];

    if (i && !compare_cells(&all[i - 1], &all[i])) continue;
    if (!p->nreads++) p->reads = kept;
    for (int d = 0; d < AMBIT_MAX_DIMS; d++) {
      const int offset = all[i].offset[d];

      if (-offset > p->low[d]) p->low[d] = -offset;
      if (offset > p->high[d]) p->high[d] = offset;
      p->reads_neighbours |= offset != 0;
    }
    *kept++ = all[i];
  }
}

static void set_params(flow *f)
{
  for (int i = 0; i < f->rule->nparams; i++) {
    ambit__param *p = &f->rule->params[i];

    p->writes = f->writes[i];
    p->keeps = f->keeps[i];
    for (int c = 0; c < p->components; c++)
      if (!ambit__offset_is_zero(f->targets[i][c]))
        p->targets = (const int(*)[AMBIT_MAX_DIMS])f->targets[i];
  }
  set_reads(f->rule, f->reads, f->nreads, ambit__rule_new(f->u, f->nreads, sizeof *f->reads));
}

/* ---- those of a rule that was made of another one ---- */

typedef struct found {
  ambit__read *list; /* owned */
  size_t n, cap;
  ambit__errors *errors;
} found;

static ambit__visit note_read(void *user, const ambit__expr *e)
{
  found *f = user;
  ambit__read r = {
      .param = e->index, .component = e->component, .is_tested = e->is_tested, .place = e->place};

  if (e->op != EXPR_READ) return VISIT_INSIDE;
  memcpy(r.offset, e->offset, sizeof r.offset);
  if (ambit__make_room(f->errors, &f->list, f->n, &f->cap, sizeof r)) return VISIT_END;
  f->list[f->n++] = r;
  return VISIT_INSIDE;
}

static bool note_old(found *f, int param, const ambit__param *p)
{
  for (int c = 0; p->kind == PARAM_FIELD && c < p->components; c++) {
    ambit__expr old = {.op = EXPR_READ, .index = param, .component = c, .place = p->place};

    memcpy(old.offset, ambit__param_target(p, c), sizeof old.offset);
    if (p->keeps[c] && note_read(f, &old) == VISIT_END) return false;
  }
  return true;
}

bool ambit__rule_find_reads(ambit__errors *errors, ambit__rule *rule)
{
  found f = {.errors = errors};
  ambit__read *kept = NULL;
  bool good = !ambit__visit_stmts(&(ambit__visitor){.expr = note_read, .user = &f}, rule->body);

  for (int i = 0; i < rule->nparams && good; i++)
    good = note_old(&f, i, &rule->params[i]);
  if (good) kept = ambit__arena_new(errors, &rule->arena, f.n + 1, sizeof *kept);
  if (kept) set_reads(rule, f.list, f.n, kept);
  free(f.list);
  return kept != NULL;
}

/* ---- all ---- */

static void prepare(flow *f)
{
  ambit__rule *r = f->rule;
  int variables = r->nlocals;

  for (int i = 0; i < r->nparams; i++) {
    f->first[i] = variables;
    variables += r->params[i].components;
    f->writes[i] = ambit__rule_new(f->u, (size_t)r->params[i].components, sizeof(bool));
    f->keeps[i] = ambit__rule_new(f->u, (size_t)r->params[i].components, sizeof(bool));
    f->targets[i] =
        ambit__rule_new(f->u, (size_t)r->params[i].components, sizeof(int[AMBIT_MAX_DIMS]));
  }
  f->has_value = ambit__unit_new(f->u, (size_t)variables, sizeof *f->has_value);
  f->in_both = ambit__unit_new(f->u, (size_t)variables, sizeof *f->in_both);
  f->journal = ambit__unit_new(f->u, (size_t)variables, sizeof *f->journal);
}

/* At the end of the cell: a component not written on every path keeps its old value. One that is
 * stored at a neighbour counts as such, so that its halo is valid where no cell stores it. */
static void finish(flow *f)
{
  for (int i = 0; i < f->rule->nparams; i++)
    for (int c = 0; c < f->rule->params[i].components; c++)
      if (f->writes[i][c] &&
          (!f->has_value[f->first[i] + c] || !ambit__offset_is_zero(f->targets[i][c])))
        keep(f, i, c, f->rule->params[i].place);
}

void ambit__footprint(ambit__unit *u)
{
  flow *f = ambit__unit_new(u, 1, sizeof *f);

  f->u = u;
  f->rule = u->rule;
  prepare(f);
  ambit__visit_stmts(&(ambit__visitor){.stmt = note_write, .user = f}, u->rule->body);
  check_written(f);
  visit_all(f, u->rule->body);
  finish(f);
  set_params(f);
  if (!all_fields_are_float(u->rule)) u->rule->mixes_double = false;
  if (!f->touches_field) u->rule->ndims = 0;
}

void ambit__footprint_folder(ambit__unit *u, const ambit__folder *folder)
{
  flow *f = ambit__unit_new(u, 1, sizeof *f);

  f->u = u;
  f->rule = u->rule;
  prepare(f);
  for (int i = 0; i < 2; i++)
    give_value(f, i);
  visit_all(f, folder->body);
  visit(f, folder->value);
}
