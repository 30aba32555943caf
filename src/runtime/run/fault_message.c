/* SPDX-License-Identifier: BSD-3-Clause */
/* fault_message.c - messages for faults: kernel, field, offset, cell, iteration, and line of the
 * kernel. */
#include "nest/checked.h"
#include "runtime/run/access.h"

#include <stdlib.h>

typedef ambit__fault_report report;

/* "[3][17]", an offset or a cell. */
void ambit__fault_print_offset(report *s, const int *offset)
{
  for (int d = 0; d < s->ndims; d++)
    ambit__print(&s->text, "[%d]", offset[d]);
}

void ambit__fault_print_cell(report *s, const int *offset)
{
  for (int d = 0; d < s->ndims; d++) {
    int64_t at = s->words[AMBIT_FAULT_CELL + d] + (offset ? offset[d] : 0);

    ambit__print(&s->text, "[%lld]", (long long)at);
  }
}

const ambit_field *ambit__fault_field(const report *s, int param)
{
  if (param < s->step->n) return s->step->args[param].field;
  return s->program->applies[s->step - s->program->steps].activity[param - s->step->n];
}

/* "component 3 of field 'f'" */
void ambit__fault_print_argument(report *s, int param, int component)
{
  const ambit_field *field = ambit__fault_field(s, param);

  if (s->rule->params[param].is_vector) ambit__print(&s->text, "component %d of ", component);
  if (field)
    ambit__print(&s->text, "field '%s'", field->name);
  else if (s->step->args[param].scalar)
    ambit__print(&s->text, "scalar '%s'", s->step->args[param].scalar->name);
  else
    ambit__print(&s->text, "the number passed for %s", s->rule->params[param].label);
}

/* " from cell [3][17] in iteration 5" */
void ambit__fault_print_where(report *s, const char *preposition)
{
  if (s->ndims) {
    ambit__print(&s->text, " %s cell ", preposition);
    ambit__fault_print_cell(s, NULL);
  }
  ambit__print(&s->text, " in iteration %lld", (long long)s->program->iteration);
}

/* ---- statements that set components ---- */

/* The first statement that sets a component or, if offset >= 0, the one at this offset in the text.
 */
typedef struct search {
  int param, component, offset;
  const ambit__stmt *found;
} search;

static ambit__visit find_set(void *user, const ambit__stmt *st)
{
  search *s = user;

  if (st->kind != STMT_SET_OUT || st->index != s->param || st->component != s->component ||
      (s->offset >= 0 && st->place.offset != s->offset))
    return VISIT_INSIDE;
  s->found = st;
  return VISIT_END;
}

ambit__place ambit__fault_place_of_set(const report *s, int param, int component, int offset)
{
  search set = {param, component, offset, NULL};

  ambit__visit_stmts(&(ambit__visitor){.stmt = find_set, .user = &set}, s->rule->body);
  return set.found ? set.found->place : s->rule->params[param].place;
}

/* ---- NaN ---- */

static void tell_source(report *s)
{
  const int64_t number = s->words[AMBIT_FAULT_SOURCE];
  const ambit__param *p;
  int param, k;

  if (number < 0) {
    ambit__print(&s->text, "\nno value read for it is NaN: this arithmetic produced it");
    return;
  }
  ambit__checked_find_read(s->rule, (int)number, &param, &k);
  p = &s->rule->params[param];
  ambit__print(&s->text, "\nan input is NaN: ");
  ambit__fault_print_argument(s, param, p->nreads ? p->reads[k].component : 0);
  if (ambit__fault_field(s, param)) {
    ambit__print(&s->text, " at offset ");
    ambit__fault_print_offset(s, p->reads[k].offset);
    ambit__print(&s->text, ", cell ");
    ambit__fault_print_cell(s, p->reads[k].offset);
  }
  ambit__print(&s->text, s->words[AMBIT_FAULT_POISON] ? ", which was never set" : "");
}

static ambit__place tell_nan(report *s)
{
  int param, component;

  ambit__checked_find_write(s->rule, (int)s->words[AMBIT_FAULT_ACCESS], &param, &component);
  ambit__print(&s->text, "kernel %s %s NaN to ", s->rule->name,
               s->rule->params[param].kind == PARAM_REDUCE ? "reduces" : "writes");
  ambit__fault_print_argument(s, param, component);
  ambit__fault_print_where(s, "at");
  if (s->words[AMBIT_FAULT_SET]) tell_source(s);
  return ambit__fault_place_of_set(s, param, component, (int)s->words[AMBIT_FAULT_SET] - 1);
}

/* A sum can be NaN although no cell contributes NaN. */
static ambit__place tell_total(report *s)
{
  const int param = (int)s->words[AMBIT_FAULT_ACCESS];

  ambit__print(&s->text, "kernel %s reduces to NaN: ", s->rule->name);
  ambit__fault_print_argument(s, param, 0);
  ambit__print(&s->text,
               " in iteration %lld\nno cell contributes NaN, but the sum of infinities of both "
               "signs is NaN",
               (long long)s->program->iteration);
  return ambit__fault_place_of_set(s, param, 0, -1);
}

/* ---- the message ---- */

static ambit__place tell(report *s)
{
  ambit__place place;

  if (ambit__access_message(s, &place)) return place;
  return s->words[AMBIT_FAULT_KIND] == AMBIT_FAULT_NAN ? tell_nan(s) : tell_total(s);
}

char *ambit__fault_message(const ambit_program *p, int step, int part, const int64_t *words)
{
  const ambit__rule *adapted = p->applies[step].adapted;
  report s = {.program = p, .step = &p->steps[step], .part = part, .words = words};
  ambit__place place;
  char *headline, *message;

  s.rule = adapted ? adapted : s.step->kernel->rule;
  s.ndims = p->applies[step].region.ndims;
  place = tell(&s);
  headline = ambit__text_finish(&s.text);
  message = headline ? ambit__rule_message(s.rule, place, headline) : NULL;
  free(headline);
  return message;
}
