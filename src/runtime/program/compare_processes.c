/* SPDX-License-Identifier: BSD-3-Clause */
/* compare_processes.c - whether all processes are about to run the same program.
 *
 * Messages fit together only if they do. Before anything is built, every process hashes what must be equal, item by item: the
 * grid, options, fields, steps. The hashes are gathered, and the first item that differs is named in words. Kernels
 * are compared by what they compute (their canonical text), not by how they are written.
 */
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "runtime/program/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THE_GRID, THE_OPTIONS, FIRST_FIELD }; /* items; then fields, then steps */
enum { WORDS = 512 };                        /* bytes of what is said of an item */

/* How many fields and steps there are: here, or on the process that has most. */
typedef struct size {
  int32_t fields, steps;
} size;

/* ---- items in words ---- */

static void describe_grid(const ambit_program *p, ambit__text *t)
{
  ambit__print(t, "the grid has ");
  for (int d = 0; d < p->grid->box.ndims; d++)
    ambit__print(t, "%s%" PRId64, d ? "x" : "", p->grid->box.hi[d]);
  ambit__print(t, " cells in %d parts", p->grid->nparts);
}

static void describe_options(const ambit_program *p, ambit__text *t)
{
  const ambit__settings *s = &p->grid->context->settings;

  ambit__print(t,
               "the options are strict=%d check=%d nan=%d exchange=%d depth=%d overlap=%s "
               "partition=%s weights=%s",
               s->strict, s->check, s->nan, s->exchange, s->depth, s->overlap, s->partition,
               s->weights);
}

static void describe_field(const ambit_program *p, int field, ambit__text *t)
{
  const ambit_field *f = field < p->nfields ? p->fields[field] : NULL;

  if (!f) {
    ambit__print(t, "there is no field %d", field + 1);
    return;
  }
  ambit__print(t, "field %d is '%s', %s", field + 1, f->name, ambit_type_name(f->type));
  if (f->components > 1) ambit__print(t, "[%d]", f->components);
  for (int d = 0; d < p->grid->box.ndims; d++)
    for (int side = 0; side < 2; side++) {
      const ambit_boundary kind = f->boundaries.kind[d][side];

      ambit__print(t, "%s%s", side ? ", " : d ? "; " : ", boundaries ", ambit__boundary_name(kind));
      if (kind == AMBIT_CONSTANT) ambit__print(t, " %g", f->boundaries.value[d][side]);
    }
}

static void describe_argument(const ambit_arg *x, ambit__text *t)
{
  if (x->field)
    ambit__print(t, "%s", x->field->name);
  else if (x->scalar)
    ambit__print(t, "%s", x->scalar->name);
  else
    ambit__print(t, "%.9g", x->number);
}

static void describe_step(const ambit_program *p, int step, ambit__text *t)
{
  const ambit__step *s = (size_t)step < p->nsteps ? &p->steps[step] : NULL;
  char box[160] = "";

  if (!s) {
    ambit__print(t, "there is no step %d", step + 1);
    return;
  }
  if (s->kind == STEP_APPLY && s->box.ndims) ambit__box_print(&s->box, box, sizeof box);
  if (s->kind == STEP_ROTATE)
    ambit__print(t, "step %d is a rotation of (", step + 1);
  else
    ambit__print(t, "step %d is kernel '%s' on %s (", step + 1, s->kernel->rule->name,
                 *box ? box : "scalars");
  for (int i = 0; i < s->n; i++) {
    ambit__print(t, "%s", i ? ", " : "");
    describe_argument(&s->args[i], t);
  }
  ambit__print(t, ")");
}

static void describe(const ambit_program *p, const size *most, int item, ambit__text *t)
{
  if (item == THE_GRID)
    describe_grid(p, t);
  else if (item == THE_OPTIONS)
    describe_options(p, t);
  else if (item - FIRST_FIELD < most->fields)
    describe_field(p, item - FIRST_FIELD, t);
  else
    describe_step(p, item - FIRST_FIELD - most->fields, t);
}

/* ---- hashes ---- */

static int place_of(const ambit_program *p, const ambit_field *f)
{
  int i = 0;

  while (i < p->nfields && p->fields[i] != f)
    i++;
  return i;
}

/* What a step does beyond its words: what its kernel computes, which of the fields that share a name, all digits. */
static ambit_status hash_step(const ambit_program *p, int step, ambit__hash *h)
{
  const ambit__step *s = (size_t)step < p->nsteps ? &p->steps[step] : NULL;
  char *text;

  for (int i = 0; s && i < s->n; i++) {
    const int32_t place = place_of(p, s->args[i].field);

    ambit__hash_bytes(h, &place, sizeof place);
    ambit__hash_bytes(h, &s->args[i].number, sizeof s->args[i].number);
  }
  if (!s || s->kind != STEP_APPLY) return AMBIT_OK;
  text = ambit__rule_print(s->kernel->rule);
  AMBIT_CHECK(text, ambit__program_errors(p), AMBIT_ENOMEM, "no memory to compare the kernel '%s'",
              s->kernel->rule->name);
  ambit__hash_text(h, text);
  free(text);
  return AMBIT_OK;
}

static ambit_status hash_item(const ambit_program *p, const size *most, int item, ambit__hash *h)
{
  ambit__text t = {0};
  char *words;

  ambit__hash_init(h);
  describe(p, most, item, &t);
  words = ambit__text_finish(&t);
  AMBIT_CHECK(words, ambit__program_errors(p), AMBIT_ENOMEM, "no memory to compare the program");
  ambit__hash_text(h, words);
  free(words);
  for (int i = 0; item == THE_GRID && i < p->grid->nparts; i++)
    for (int d = 0; d < p->grid->box.ndims; d++) {
      ambit__hash_bytes(h, &p->grid->parts[i].lo[d], sizeof(int64_t));
      ambit__hash_bytes(h, &p->grid->parts[i].hi[d], sizeof(int64_t));
    }
  if (item < FIRST_FIELD + most->fields) return AMBIT_OK;
  return hash_step(p, item - FIRST_FIELD - most->fields, h);
}

/* ---- together ---- */

static ambit_status find_most(const ambit_program *p, size *most)
{
  ambit__net *net = p->grid->context->net;
  const size mine = {p->nfields, (int32_t)p->nsteps};
  size *all = ambit__new(ambit__program_errors(p), (size_t)net->size, sizeof *all);
  ambit_status s = ambit__net_agree(net); /* what was wrong so far, and whether there was memory */

  *most = mine;
  if (!s) s = ambit__net_gather(net, &mine, sizeof mine, all);
  for (int i = 0; !s && i < net->size; i++) {
    if (all[i].fields > most->fields) most->fields = all[i].fields;
    if (all[i].steps > most->steps) most->steps = all[i].steps;
  }
  free(all);
  return s;
}

/* Tells, on all processes, in what `who` differs from process 0. */
static ambit_status tell(const ambit_program *p, const size *most, int item, int who)
{
  ambit__net *net = p->grid->context->net;
  char first[WORDS], other[WORDS];
  ambit__text t = {0};
  bool worded;

  describe(p, most, item, &t);
  snprintf(first, sizeof first, "%s", t.chars ? t.chars : "");
  memcpy(other, first, sizeof other);
  ambit__text_free(&t);
  AMBIT_TRY(ambit__net_broadcast(net, 0, first, sizeof first));
  AMBIT_TRY(ambit__net_broadcast(net, who, other, sizeof other));
  worded = strcmp(first, other) != 0;
  return ambit__raise(net->errors, AMBIT_EPROGRAM,
                      "process %d runs another program than process 0: %s%s%s; all processes must "
                      "run the same program on the same grid",
                      who, other, worded ? ", but in process 0 " : ", but in process 0 it is ",
                      worded             ? first
                      : item == THE_GRID ? "cut otherwise"
                                         : "not quite the same: numbers or kernels differ");
}

/* The first item of which not all processes have the same hash, and the first of these processes; -1: none. */
static int find_difference(const ambit__hash *all, int items, int processes, int *who)
{
  for (int i = 0; i < items; i++)
    for (*who = 1; *who < processes; ++*who)
      if (memcmp(&all[i], &all[*who * items + i], sizeof *all)) return i;
  return -1;
}

static ambit_status compare(const ambit_program *p, const size *most, int items, ambit__hash *mine)
{
  ambit__net *net = p->grid->context->net;
  ambit__hash *all = mine + items;
  int item, who;

  for (int i = 0; i < items; i++)
    if (hash_item(p, most, i, &mine[i])) break;
  AMBIT_TRY(ambit__net_agree(net));
  AMBIT_TRY(ambit__net_gather(net, mine, (size_t)items * sizeof *mine, all));
  item = find_difference(all, items, net->size, &who);
  return item < 0 ? AMBIT_OK : tell(p, most, item, who);
}

ambit_status ambit__program_compare(const ambit_program *p)
{
  ambit__net *net = p->grid->context->net;
  ambit__hash *hashes;
  ambit_status s;
  size most;
  int items;

  if (net->size == 1) return ambit__program_errors(p)->status;
  AMBIT_TRY(find_most(p, &most));
  items = FIRST_FIELD + most.fields + most.steps;
  hashes =
      ambit__new(ambit__program_errors(p), (size_t)items * ((size_t)net->size + 1), sizeof *hashes);
  if (!hashes) return ambit__net_agree(net);
  s = compare(p, &most, items, hashes);
  free(hashes);
  return s;
}
