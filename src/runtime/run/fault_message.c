/* SPDX-License-Identifier: BSD-3-Clause */
/* fault_message.c - messages for the options check and nan: kernel, field, offset, cell, iteration,
 * and line of the kernel. */
#include "base/text.h"
#include "device/faults.h"
#include "plan/checked.h"
#include "runtime/run/checked_launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The data of a message. */
typedef struct message_data {
  const ambit_program *program;
  const ambit__step *step;
  int part, ndims;
  const int64_t *words; /* the record */
  ambit__text text;
} message_data;

static const ambit__rule *rule_of(const message_data *s)
{
  return s->step->kernel->rule;
}

static const int64_t *cell_of(const message_data *s)
{
  return s->words + AMBIT_FAULT_CELL;
}

/* "[3][17]", an offset or a cell. */
static void print_offset(message_data *s, const int *offset)
{
  for (int d = 0; d < s->ndims; d++)
    ambit__print(&s->text, "[%d]", offset[d]);
}

static void print_cell(message_data *s, const int *offset)
{
  for (int d = 0; d < s->ndims; d++) {
    int64_t at = cell_of(s)[d] + (offset ? offset[d] : 0);

    ambit__print(&s->text, "[%lld]", (long long)at);
  }
}

/* "component 3 of field 'f'" */
static void print_argument(message_data *s, int param, int component)
{
  const ambit_arg *a = &s->step->args[param];

  if (rule_of(s)->params[param].is_vector) ambit__print(&s->text, "component %d of ", component);
  if (a->field)
    ambit__print(&s->text, "field '%s'", a->field->name);
  else if (a->scalar)
    ambit__print(&s->text, "scalar '%s'", a->scalar->name);
  else
    ambit__print(&s->text, "the number passed for %s", rule_of(s)->params[param].name);
}

/* " from cell [3][17] in iteration 5" */
static void print_where(message_data *s, const char *preposition)
{
  if (s->ndims) {
    ambit__print(&s->text, " %s cell ", preposition);
    print_cell(s, NULL);
  }
  ambit__print(&s->text, " in iteration %lld", (long long)s->program->iteration);
}

/* ---- accesses outside ---- */

/* A box from the limits of a parameter. */
static ambit__box limit_box(const message_data *s, int param, int lo, int hi)
{
  const int64_t *limits = s->words + AMBIT_FAULT_WORDS + param * AMBIT_LIMIT_WORDS;
  ambit__box box = {.ndims = s->ndims};

  memcpy(box.lo, limits + lo, sizeof box.lo);
  memcpy(box.hi, limits + hi, sizeof box.hi);
  return box;
}

/* Prints which check failed: that of the cell, or that of its address. */
static void print_outside(message_data *s, int param, const ambit__box *cells, const int *offset,
                          const char *which)
{
  const ambit__store *store = &s->step->args[param].field->stores[s->part];
  bool inside = true;
  char box[160];

  for (int d = 0; d < cells->ndims; d++) {
    int64_t at = cell_of(s)[d] + offset[d];

    inside &= at >= cells->lo[d] && at < cells->hi[d];
  }
  ambit__box_print(cells, box, sizeof box);
  if (inside)
    ambit__print(&s->text, ", outside the field's memory of %zu bytes", store->buffer->bytes);
  else
    ambit__print(&s->text, ", outside the part's %s cells, %s", which, box);
}

static ambit__place tell_read(message_data *s)
{
  int param, k;
  const ambit__read *r;
  ambit__box stored;

  ambit__checked_find_read(rule_of(s), (int)s->words[AMBIT_FAULT_ACCESS], &param, &k);
  r = &rule_of(s)->params[param].reads[k];
  stored = limit_box(s, param, AMBIT_LIMIT_READ_LO, AMBIT_LIMIT_READ_HI);
  ambit__print(&s->text, "kernel %s reads ", rule_of(s)->name);
  print_argument(s, param, r->component);
  ambit__print(&s->text, " at offset ");
  print_offset(s, r->offset);
  print_where(s, "from");
  ambit__print(&s->text, ": that is cell ");
  print_cell(s, r->offset);
  print_outside(s, param, &stored, r->offset, "stored");
  return r->place;
}

/* The first statement that sets a component or, if offset >= 0, the one at this offset in the text.
 */
static const ambit__stmt *find_set(const ambit__stmt *list, int param, int component, int offset)
{
  const ambit__stmt *found = NULL;

  for (; list && !found; list = list->next) {
    bool here = offset >= 0 ? list->place.offset == offset : true;

    if (list->kind == STMT_SET_OUT && list->index == param && list->component == component && here)
      return list;
    if (list->kind != STMT_IF) continue;
    found = find_set(list->body, param, component, offset);
    if (!found) found = find_set(list->other, param, component, offset);
  }
  return found;
}

static ambit__place place_of_set(const message_data *s, int param, int component, int offset)
{
  const ambit__stmt *st = find_set(rule_of(s)->body, param, component, offset);

  return st ? st->place : rule_of(s)->params[param].place;
}

static ambit__place tell_write(message_data *s)
{
  const int here[AMBIT_MAX_DIMS] = {0};
  ambit__box own;
  int param, component;

  ambit__checked_find_write(rule_of(s), (int)s->words[AMBIT_FAULT_ACCESS], &param, &component);
  own = limit_box(s, param, AMBIT_LIMIT_WRITE_LO, AMBIT_LIMIT_WRITE_HI);
  ambit__print(&s->text, "kernel %s writes ", rule_of(s)->name);
  print_argument(s, param, component);
  print_where(s, "at");
  print_outside(s, param, &own, here, "own");
  return place_of_set(s, param, component, -1);
}

/* ---- NaN ---- */

static void tell_source(message_data *s)
{
  const int64_t number = s->words[AMBIT_FAULT_SOURCE];
  const ambit__param *p;
  int param, k;

  if (number < 0) {
    ambit__print(&s->text, "\nno value read for it is NaN: this arithmetic produced it");
    return;
  }
  ambit__checked_find_read(rule_of(s), (int)number, &param, &k);
  p = &rule_of(s)->params[param];
  ambit__print(&s->text, "\nan input is NaN: ");
  print_argument(s, param, p->nreads ? p->reads[k].component : 0);
  if (s->step->args[param].field) {
    ambit__print(&s->text, " at offset ");
    print_offset(s, p->reads[k].offset);
    ambit__print(&s->text, ", cell ");
    print_cell(s, p->reads[k].offset);
  }
  ambit__print(&s->text, s->words[AMBIT_FAULT_POISON] ? ", which was never set" : "");
}

static ambit__place tell_nan(message_data *s)
{
  int param, component;

  ambit__checked_find_write(rule_of(s), (int)s->words[AMBIT_FAULT_ACCESS], &param, &component);
  ambit__print(&s->text, "kernel %s %s NaN to ", rule_of(s)->name,
               rule_of(s)->params[param].kind == PARAM_REDUCE ? "reduces" : "writes");
  print_argument(s, param, component);
  print_where(s, "at");
  if (s->words[AMBIT_FAULT_SET]) tell_source(s);
  return place_of_set(s, param, component, (int)s->words[AMBIT_FAULT_SET] - 1);
}

/* A sum can be NaN although no cell contributes NaN. */
static ambit__place tell_total(message_data *s)
{
  const int param = (int)s->words[AMBIT_FAULT_ACCESS];

  ambit__print(&s->text, "kernel %s reduces to NaN: ", rule_of(s)->name);
  print_argument(s, param, 0);
  ambit__print(&s->text,
               " in iteration %lld\nno cell contributes NaN, but the sum of infinities of both "
               "signs is NaN",
               (long long)s->program->iteration);
  return place_of_set(s, param, 0, -1);
}

/* ---- the message ---- */

static ambit__place tell(message_data *s)
{
  switch (s->words[AMBIT_FAULT_KIND]) {
  case AMBIT_FAULT_READ: return tell_read(s);
  case AMBIT_FAULT_WRITE: return tell_write(s);
  case AMBIT_FAULT_NAN: return tell_nan(s);
  default: return tell_total(s);
  }
}

char *ambit__fault_message(const ambit_program *p, int step, int part, const int64_t *words)
{
  message_data s = {.program = p, .step = &p->steps[step], .part = part, .words = words};
  ambit__place place;
  char *headline, *message;

  s.ndims = p->applies[step].region.ndims;
  place = tell(&s);
  headline = ambit__text_finish(&s.text);
  message = headline ? ambit__rule_message(rule_of(&s), place, headline) : NULL;
  free(headline);
  return message;
}
