/* SPDX-License-Identifier: BSD-3-Clause */
/* tuned.c - the plan that was measured to be the fastest, kept from one run to the next.
 *
 * A note in the folder of compiled kernels, readable text whose first line is
 * "depth 8 (wavefront depth 8 rows 16)" or "depth 1", under a name made from all that the choice
 * depends on: kernels, fields, grid and parts, options, devices, the versions of driver, compiler
 * and Ambit. Process 0 reads and writes it.
 */
#include "base/text.h"
#include "device/cache.h"
#include "runtime/program/cycle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ambit__program_hash(const ambit_program *p, ambit__hash *h)
{
  for (size_t i = 0; i < p->nsteps; i++) {
    const ambit__step *s = &p->steps[i];
    char *text = s->kind == STEP_APPLY ? ambit__rule_print(s->kernel->rule) : NULL;

    if (text) ambit__hash_text(h, text);
    free(text);
    for (int k = 0; k < s->n; k++)
      if (s->args[k].field) {
        const int number[] = {(int)s->args[k].field->type, s->args[k].field->components};

        ambit__hash_bytes(h, number, sizeof number);
      }
  }
  ambit__hash_bytes(h, p->grid->box.hi, (size_t)p->grid->box.ndims * sizeof *p->grid->box.hi);
}

/* The boundaries of all fields, and how many there are: fields that are alike are one. */
static void hash_fields(const ambit_program *p, ambit__hash *h)
{
  for (int i = 0; i < p->nfields; i++)
    ambit__hash_bytes(h, p->fields[i]->boundaries.kind, sizeof p->fields[i]->boundaries.kind);
}

static void hash_place(const ambit *a, ambit__hash *h)
{
  const int numbers[] = {a->settings.strict, a->settings.join,    a->settings.threads,
                         a->net->size,       AMBIT_VERSION_MAJOR, AMBIT_VERSION_MINOR,
                         AMBIT_VERSION_PATCH};

  ambit__hash_bytes(h, numbers, sizeof numbers);
  ambit__hash_text(h, a->settings.cc);
  ambit__hash_text(h, a->settings.plan);
  for (int i = 0; i < a->nengines; i++) {
    ambit__device_info info = {0};

    a->engines[i].device->backend->info(a->engines[i].device, &info);
    ambit__hash_text(h, a->engines[i].backend->name);
    ambit__hash_text(h, info.identity);
  }
}

static ambit__hash hash_of(const ambit_program *p)
{
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__program_hash(p, &h);
  hash_fields(p, &h);
  hash_place(p->grid->context, &h);
  for (int i = 0; i < p->grid->nparts; i++)
    ambit__hash_bytes(&h, &p->grid->parts[i], sizeof p->grid->parts[i]);
  return h;
}

char *ambit__tuned_text(const ambit_program *p)
{
  const ambit__hash h = hash_of(p);

  return ambit__note_recall(&p->grid->context->settings, "tuned", &h);
}

ambit_status ambit__plan_share(ambit__net *net, char plan[AMBIT__PLAN_CHARS])
{
  AMBIT_TRY(ambit__net_agree(net));
  return ambit__net_broadcast(net, 0, plan, AMBIT__PLAN_CHARS);
}

/* Reads the first line of a note; returns its depth, or 0 if it has none. A plan that is none, or
 * of another depth, is left out. */
static int read_note(const char *text, char plan[AMBIT__PLAN_CHARS])
{
  size_t n;
  int depth = 0, read = 0, planned;

  if (sscanf(text, "depth %d%n", &depth, &read) != 1 || depth < 1 || depth > 1000) return 0;
  text += read;
  text += strspn(text, " ");
  n = strcspn(text, "\n");
  if (n >= AMBIT__PLAN_CHARS || *text != '(' || ambit__plan_is_cycle(text) != (depth > 1))
    return depth;
  memcpy(plan, text, n);
  planned = ambit__wavefront_read(plan).depth;
  if (planned && planned != depth) *plan = '\0';
  return depth;
}

ambit_status ambit__tuned_recall(ambit_program *p)
{
  const ambit *a = p->grid->context;
  double recalled; /* by the first process, for all */
  int depth = 0;

  if (p->tuning) return AMBIT_OK;
  p->tuned = 0;
  memset(p->tuned_plan, 0, sizeof p->tuned_plan);
  if (ambit__cycle_is_asked(p) || a->dry) return AMBIT_OK;
  if (!a->net->rank) {
    char *text = ambit__tuned_text(p);

    if (text) depth = read_note(text, p->tuned_plan);
    free(text);
  }
  recalled = depth;
  AMBIT_TRY(ambit__net_max(a->net, &recalled, 1)); /* an agreement, where failed processes meet */
  p->tuned = (int)recalled;
  return p->tuned ? ambit__plan_share(a->net, p->tuned_plan) : AMBIT_OK;
}

static void print_problem(const ambit_program *p, ambit__text *t)
{
  ambit__print(t, "program");
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY) ambit__print(t, " %s", p->steps[i].kernel->rule->name);
  ambit__print(t, "\ngrid    ");
  for (int d = 0; d < p->grid->box.ndims; d++)
    ambit__print(t, "%s%lld", d ? "x" : "", (long long)p->grid->box.hi[d]);
  ambit__print(t, ", %d part%s\n", p->grid->nparts, p->grid->nparts == 1 ? "" : "s");
  for (int i = 0; i < p->grid->context->nengines; i++) {
    const ambit__engine *e = &p->grid->context->engines[i];
    ambit__device_info info = {0};

    e->device->backend->info(e->device, &info);
    ambit__print(t, "device  %s: %s\n", e->backend->name, info.identity);
  }
  ambit__print(t, "ambit   %d.%d.%d\n", AMBIT_VERSION_MAJOR, AMBIT_VERSION_MINOR,
               AMBIT_VERSION_PATCH);
}

void ambit__tuned_note(const ambit_program *p, const ambit__timing *times, int n)
{
  const ambit__hash h = hash_of(p);
  ambit__text t = {0};
  char *text;

  if (p->grid->context->net->rank) return;
  ambit__print(&t, "depth %d%s%s\n", p->tuned, *p->tuned_plan ? " " : "", p->tuned_plan);
  print_problem(p, &t);
  for (int i = 0; i < n; i++)
    ambit__print(&t, "%.3e s per iteration: depth %d%s%s\n", times[i].seconds, times[i].depth,
                 *times[i].plan ? " " : "", times[i].plan);
  text = ambit__text_finish(&t);
  ambit__note_keep(&p->grid->context->settings, "tuned", &h, text);
  free(text);
}
