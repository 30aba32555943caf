/* SPDX-License-Identifier: BSD-3-Clause */
/* balance_notes.c - the weights of a program on some devices, kept from one run to the next.
 *
 * A note in the folder of compiled kernels: a line of weights, one per part, under a name made from
 * the kernels, the types of fields, the grid and the devices of all parts. Process 0 reads and
 * writes it. A note that is wrong costs speed only: the cut moves on from there.
 */
#include "base/number.h"
#include "base/text.h"
#include "device/cache.h"
#include "runtime/program/cycle.h"
#include "runtime/run/balance.h"

#include <stdlib.h>

/* The model of a device; for a dry one, of the device that it stands for, if that is here. */
static void find_model(const ambit__engine *e, ambit__device *device, void *info)
{
  (void)e;
  device->backend->info(device, info);
}

/* Of parts on devices with these names. */
static ambit__hash hash_of(const ambit_program *p, int n, char (*names)[AMBIT__PART_NAME])
{
  const ambit_grid *g = p->grid;
  const ambit__settings *settings = &g->context->settings;
  const int options[] = {settings->depth, settings->strict, settings->threads};
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__program_hash(p, &h);
  ambit__hash_bytes(&h, options, sizeof options);
  for (int i = 0; i < n; i++)
    ambit__hash_text(&h, names[i]);
  for (int i = 0; i < g->context->nengines; i++) {
    ambit__device_info info = {0};

    ambit__engine_visit(g->context, i, find_model, &info);
    ambit__hash_text(&h, info.name);
  }
  return h;
}

/* Whether a text is n weights, not all of them 0. */
static bool parse(const char *text, int n, double *weights)
{
  double sum = 0;

  for (int i = 0; i < n; i++) {
    text = ambit__number_scan(text, &weights[i]);
    if (!text || weights[i] < 0) return false;
    sum += weights[i];
  }
  return sum > 0;
}

static bool read_note(const ambit_program *p, int n, char (*names)[AMBIT__PART_NAME],
                      double *weights)
{
  const ambit__hash h = hash_of(p, n, names);
  char *text = ambit__note_recall(&p->grid->context->settings, "weights", &h);
  const bool good = text && parse(text, n, weights);

  free(text);
  return good;
}

bool ambit__balance_remembers(const ambit_program *p, double *weights)
{
  const ambit *a = p->grid->context;
  char names[AMBIT__SHOWN_WEIGHTS][AMBIT__PART_NAME];

  if (a->net->size > 1 || a->placement.n > AMBIT__SHOWN_WEIGHTS) return false;
  for (int i = 0; i < a->placement.n; i++)
    ambit__part_name(a, i, names[i]);
  return read_note(p, a->placement.n, names, weights);
}

ambit_status ambit__balance_recall(const ambit_program *p, double *weights, bool *known)
{
  ambit__net *net = p->grid->context->net;

  *known = !net->rank && read_note(p, p->balance->n, p->balance->names, weights);
  AMBIT_TRY(ambit__net_any(net, known, 1));
  if (!*known) return AMBIT_OK;
  return ambit__net_broadcast(net, 0, weights, (size_t)p->balance->n * sizeof *weights);
}

void ambit__balance_note(const ambit_program *p, const double *weights)
{
  ambit__text t = {0};
  char number[AMBIT__NUMBER_CHARS], *text;
  ambit__hash h;

  if (p->grid->context->net->rank || !p->balance->names) return;
  for (int i = 0; i < p->balance->n; i++) {
    ambit__number_print_float(number, (float)weights[i]);
    ambit__print(&t, "%s%s", i ? " " : "", number);
  }
  ambit__print(&t, "\n");
  text = ambit__text_finish(&t);
  h = hash_of(p, p->balance->n, p->balance->names);
  ambit__note_keep(&p->grid->context->settings, "weights", &h, text);
  free(text);
}
