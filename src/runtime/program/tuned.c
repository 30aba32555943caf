/* SPDX-License-Identifier: BSD-3-Clause */
/* tuned.c - the depth that was measured to be the fastest, kept from one run to the next.
 *
 * A note in the folder of compiled kernels, readable text whose first line is "depth 8", under a
 * name made from all that the choice depends on: kernels, fields, grid and parts, options, devices,
 * compiler and version. Process 0 reads and writes it.
 */
#include "base/text.h"
#include "device/cache.h"
#include "runtime/program/cycle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_CHARS = 64 };

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
    ambit__hash_text(h, info.name);
  }
}

static void name_note(const ambit_program *p, char name[NAME_CHARS])
{
  char hex[AMBIT__HASH_CHARS];
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__program_hash(p, &h);
  hash_fields(p, &h);
  hash_place(p->grid->context, &h);
  for (int i = 0; i < p->grid->nparts; i++)
    ambit__hash_bytes(&h, &p->grid->parts[i], sizeof p->grid->parts[i]);
  ambit__hash_hex(&h, hex);
  snprintf(name, NAME_CHARS, "tuned-%s", hex);
}

char *ambit__tuned_text(const ambit_program *p)
{
  char name[NAME_CHARS];

  name_note(p, name);
  return ambit__cache_recall_once(&p->grid->context->settings, name);
}

ambit_status ambit__tuned_recall(ambit_program *p)
{
  const ambit *a = p->grid->context;
  double recalled; /* by the first process, for all */
  int depth = 0;

  if (p->tuning) return AMBIT_OK;
  p->tuned = 0;
  if (a->settings.depth || a->dry) return AMBIT_OK;
  if (!a->net->rank) {
    char *text = ambit__tuned_text(p);

    if (!text || sscanf(text, "depth %d", &depth) != 1 || depth < 1 || depth > 1000) depth = 0;
    free(text);
  }
  recalled = depth;
  AMBIT_TRY(ambit__net_max(a->net, &recalled, 1)); /* an agreement, where failed processes meet */
  p->tuned = (int)recalled;
  return AMBIT_OK;
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
    ambit__print(t, "device  %s: %s\n", e->backend->name, info.name);
  }
  ambit__print(t, "ambit   %d.%d.%d\n", AMBIT_VERSION_MAJOR, AMBIT_VERSION_MINOR,
               AMBIT_VERSION_PATCH);
}

void ambit__tuned_note(const ambit_program *p, const ambit__timing *times, int n)
{
  ambit__text t = {0};
  char name[NAME_CHARS], *text;

  if (p->grid->context->net->rank) return;
  ambit__print(&t, "depth %d\n", p->tuned);
  print_problem(p, &t);
  for (int i = 0; i < n; i++)
    ambit__print(&t, "depth %d: %.4g s per iteration\n", times[i].depth, times[i].seconds);
  text = ambit__text_finish(&t);
  name_note(p, name);
  ambit__cache_note_once(&p->grid->context->settings, name, text);
  free(text);
}
