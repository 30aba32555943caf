/* SPDX-License-Identifier: BSD-3-Clause */
/* compare_processes.c - checks that all processes are about to run the same program.
 *
 * Otherwise their messages would not match. Before anything is built, every process hashes each
 * item that must be equal: the grid, fields and steps; ambit__meet has compared the options. The
 * hashes are gathered, and the error describes the first item that differs. Kernels are compared by
 * their canonical text, so formatting and comments do not matter.
 */
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "runtime/program/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THE_GRID, FIRST_FIELD }; /* items; then the fields, then the steps */
enum { DESCRIPTION = 512 };     /* bytes for the description of an item */

/* The numbers of fields and steps: of this process, or the largest of all processes. */
typedef struct size {
  int32_t fields, steps;
} size;

/* ---- descriptions of items ---- */

static void describe_grid(const ambit_program *p, ambit__text *t)
{
  ambit__print(t, "the grid has ");
  for (int d = 0; d < p->grid->box.ndims; d++)
    ambit__print(t, "%s%" PRId64, d ? "x" : "", p->grid->box.hi[d]);
  ambit__print(t, " cells");
  if (p->grid->active) ambit__print(t, ", %" PRId64 " of them active,", p->grid->active->cells);
  ambit__print(t, " in %d parts", p->grid->nparts);
}

static void describe_boundaries(const ambit__boundaries *b, int ndims, ambit__text *t)
{
  for (int d = 0; d < ndims; d++)
    for (int side = 0; side < 2; side++) {
      const ambit_boundary kind = b->kind[d][side];

      ambit__print(t, "%s%s", side ? ", " : d ? "; " : ", boundaries ", ambit__boundary_name(kind));
      if (kind == AMBIT_CONSTANT) ambit__print(t, " %.17g", b->value[d][side]);
    }
}

/* ... and of a sparse grid's inactive cells. */
static void describe_inactive(const ambit__boundaries *b, ambit__text *t)
{
  ambit__print(t, "; inactive cells %s %.17g", ambit__boundary_name(b->inactive), b->fill);
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
  describe_boundaries(&f->boundaries, p->grid->box.ndims, t);
  if (p->grid->active) describe_inactive(&f->boundaries, t);
  for (int c = 0; f->special && c < f->components; c++) {
    describe_boundaries(&f->special[c], p->grid->box.ndims, t);
    if (p->grid->active) describe_inactive(&f->special[c], t);
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

/* The called program is compared when it is sealed. */
static void describe_call(const ambit__subrun *c, int step, ambit__text *t)
{
  ambit__print(t, "step %d calls a program of %zu steps for %" PRId64 " iterations", step + 1,
               c->program->nwritten, c->most);
  if (ambit__program_calls_back(c->program)) ambit__print(t, " with callbacks");
  if (c->scalar)
    ambit__print(t, " at most, until %s meets condition %d with %.17g", c->scalar->name,
                 (int)c->when, c->bound);
}

void ambit__step_describe(const ambit__step *s, int step, ambit__text *t)
{
  char box[160] = "";

  if (s->kind != STEP_ROTATE && s->box.ndims) ambit__box_print(&s->box, box, sizeof box);
  if (s->kind == STEP_ROTATE)
    ambit__print(t, "step %d is a rotation of (", step + 1);
  else if (s->kind == STEP_CALL)
    describe_call(&s->call, step, t);
  else if (s->kind == STEP_COPY)
    ambit__print(t, "step %d is a copy of %s (", step + 1, box);
  else
    ambit__print(t, "step %d is %s '%s' on %s (", step + 1, s->chore ? "chore" : "kernel",
                 s->kernel->rule->name, *box ? box : "scalars");
  for (int i = 0; i < s->n; i++) {
    ambit__print(t, "%s", i ? ", " : "");
    describe_argument(&s->args[i], t);
  }
  if (s->kind != STEP_CALL) ambit__print(t, ")");
  if (s->sweep)
    ambit__print(t, " from the %s face of axis %d", s->sweep > 0 ? "low" : "high",
                 ambit__sweep_axis(s->sweep));
  if (s->every > 1) ambit__print(t, " every %" PRId64 " iterations", s->every);
}

static void describe_step(const ambit_program *p, int step, ambit__text *t)
{
  if ((size_t)step < p->nsteps)
    ambit__step_describe(&p->steps[step], step, t);
  else
    ambit__print(t, "there is no step %d", step + 1);
}

static void describe(const ambit_program *p, const size *most, int item, ambit__text *t)
{
  if (item == THE_GRID)
    describe_grid(p, t);
  else if (item - FIRST_FIELD < most->fields)
    describe_field(p, item - FIRST_FIELD, t);
  else
    describe_step(p, item - FIRST_FIELD - most->fields, t);
}

/* ---- hashes ---- */

/* Hashes the data of a step that its description lacks: the kernel's text, the indices of its
 * fields, since names may repeat, and all digits of its numbers. */
static ambit_status hash_step(const ambit_program *p, int step, ambit__hash *h)
{
  const ambit__step *s = (size_t)step < p->nsteps ? &p->steps[step] : NULL;
  char *text;

  for (int i = 0; s && i < s->n; i++) {
    const int32_t place = ambit__program_field(p, s->args[i].field);

    ambit__hash_bytes(h, &place, sizeof place);
    ambit__hash_bytes(h, &s->args[i].number, sizeof s->args[i].number);
  }
  if (s && s->kind == STEP_COPY) ambit__hash_bytes(h, s->shift, sizeof s->shift);
  if (s && s->chore) ambit__chore_hash(s->chore, h);
  if (!s || s->kind != STEP_APPLY) return AMBIT_OK;
  text = ambit__rule_print(s->kernel->rule);
  AMBIT_CHECK(text, ambit__program_errors(p), AMBIT_ENOMEM, "no memory to compare the kernel '%s'",
              s->kernel->rule->name);
  ambit__hash_text(h, text);
  free(text);
  return AMBIT_OK;
}

static uint64_t mix(uint64_t x, int64_t more)
{
  x = (x ^ (uint64_t)more) * UINT64_C(0x9fb21c651e98df25);
  return x ^ x >> 29;
}

static void hash_grid(const ambit_grid *g, ambit__hash *h)
{
  const ambit__active *active = g->active;
  uint64_t cells = 0;

  for (int i = 0; i < g->nparts; i++)
    for (int d = 0; d < g->box.ndims; d++) {
      ambit__hash_bytes(h, &g->parts[i].lo[d], sizeof(int64_t));
      ambit__hash_bytes(h, &g->parts[i].hi[d], sizeof(int64_t));
    }
  for (int64_t i = 0; active && i < active->n; i++)
    cells = mix(mix(mix(cells, active->runs[i].row), active->runs[i].lo), active->runs[i].hi);
  ambit__hash_bytes(h, &cells, sizeof cells);
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
  if (item == THE_GRID) hash_grid(p->grid, h);
  if (item < FIRST_FIELD + most->fields) return AMBIT_OK;
  return hash_step(p, item - FIRST_FIELD - most->fields, h);
}

/* ---- comparison ---- */

static ambit_status find_most(const ambit_program *p, size *most)
{
  double counts[] = {p->nfields, (double)p->nsteps};

  AMBIT_TRY(ambit__net_max(p->grid->context->net, counts, 2)); /* raises earlier errors too */
  *most = (size){(int32_t)counts[0], (int32_t)counts[1]};
  return AMBIT_OK;
}

/* Raises on all processes the error that process `who` differs from process 0. */
static ambit_status tell(const ambit_program *p, const size *most, int item, int who)
{
  ambit__net *net = p->grid->context->net;
  char first[DESCRIPTION], other[DESCRIPTION];
  ambit__text t = {0};
  bool worded;

  describe(p, most, item, &t);
  snprintf(first, sizeof first, "%s", t.chars ? t.chars : "");
  memcpy(other, first, sizeof other);
  ambit__text_free(&t);
  AMBIT_TRY(ambit__net_broadcast(net, 0, first, sizeof first));
  AMBIT_TRY(ambit__net_broadcast(net, who, other, sizeof other));
  worded = strcmp(first, other) != 0;
  return ambit__raise(
      net->errors, AMBIT_EPROGRAM,
      "process %d runs a different program than process 0: %s%s%s; all processes must "
      "run the same program on the same grid",
      who, other, worded ? ", but in process 0 " : ", but in process 0 it is ",
      worded             ? first
      : item != THE_GRID ? "different in its numbers or its kernel"
      : p->grid->active  ? "partitioned differently, or other cells are active"
                         : "partitioned differently");
}

/* The first item whose hashes differ, and the first process that differs; -1: none. */
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
