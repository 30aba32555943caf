/* SPDX-License-Identifier: BSD-3-Clause */
/* offers.c - the devices that take part, and their shares of the first cut.
 *
 * Where weights are automatic and there are several devices, the copy bandwidth of each says what
 * it can bring to most stencils. A device far slower than the fastest is closed before any cell is
 * placed. Everything then is as if it had not been named: it would add a few per cent, and keep the
 * others from computing several iterations at once. So is the slower of two devices on one chip,
 * such as cuda and opencl, since they can only take turns. The rest begins with shares in
 * proportion, which are corrected while programs run (run/balance.h). All processes gather the same
 * numbers, so they decide alike. Devices are measured once (device/measure.h).
 */
#include "base/log.h"
#include "base/memory.h"
#include "device/measure.h"
#include "runtime/objects/objects.h"

#include <stdlib.h>
#include <string.h>

static const double LEAST = 0.05; /* of the fastest device's bandwidth, to take part */

enum { MOST_LINES = 8 }; /* of devices left out */

bool ambit__weights_are_auto(const ambit *a)
{
  const char *weights = a->settings.weights;

  return !strcmp(weights, "auto") || (!*weights && a->unlike);
}

/* ---- measuring ---- */

static void measure(const ambit__engine *e, ambit__device *device, void *offer)
{
  ambit__device_info info = {0};
  ambit__offer *x = offer;

  (void)e;
  device->backend->info(device, &info);
  x->chip = info.chip;
  ambit__device_measure(device, false);
  x->bandwidth = device->machine.measured ? 1e9 * device->machine.copy : 0;
}

static void make_offer(const ambit *a, int engine, ambit__offer *x)
{
  const ambit__engine *e = &a->engines[engine];

  snprintf(x->name, sizeof x->name, "%s:%d", e->backend->name, e->ordinal);
  ambit__engine_visit(a, engine, measure, x);
}

static ambit_status is_wanted(ambit *a, bool *wanted)
{
  bool several = a->unlike || a->nengines > 1 || a->net->size > 1;
  bool can[] = {ambit__weights_are_auto(a), true};

  for (int i = 0; i < a->nengines; i++)
    can[1] &= ambit__can(a->engines[i].backend, measure) &&
              (!a->dry || a->engines[i].ordinal < a->engines[i].backend->count());
  AMBIT_TRY(ambit__net_any(a->net, &several, 1));
  AMBIT_TRY(ambit__net_all(a->net, can, 2));
  *wanted = several && can[0] && can[1];
  return AMBIT_OK;
}

/* Makes a->offers. */
static ambit_status gather(ambit *a)
{
  const size_t size = (size_t)a->net->size;
  double most = a->nengines;
  ambit__offer *mine;

  AMBIT_TRY(ambit__net_max(a->net, &most, 1));
  a->noffers = (int)most;
  a->offers = ambit__new(&a->errors, (size_t)a->noffers * (size + 1), sizeof *mine);
  mine = a->offers ? a->offers + (size_t)a->noffers * size : NULL;
  for (int i = 0; mine && i < a->nengines; i++)
    make_offer(a, i, &mine[i]);
  AMBIT_TRY(ambit__net_agree(a->net));
  return ambit__net_gather(a->net, mine, (size_t)a->noffers * sizeof *mine, a->offers);
}

/* ---- deciding ---- */

static int count(const ambit *a)
{
  return a->offers ? a->net->size * a->noffers : 0;
}

static int fastest(const ambit__offer *offers, int n)
{
  int best = 0;

  for (int i = 1; i < n; i++)
    if (offers[i].bandwidth > offers[best].bandwidth) best = i;
  return best;
}

static bool all_are_known(const ambit *a)
{
  for (int i = 0; i < count(a); i++)
    if (*a->offers[i].name && a->offers[i].bandwidth <= 0) return false;
  return true;
}

/* The offer of the same process on the same chip that takes part; NULL: there is none. */
static const ambit__offer *twin_of(const ambit *a, int i)
{
  const int first = i / a->noffers * a->noffers;

  for (int k = first; k < first + a->noffers; k++)
    if (k != i && a->offers[k].chip && a->offers[k].chip == a->offers[i].chip &&
        !a->offers[k].left_out)
      return &a->offers[k];
  return NULL;
}

static void leave_out(ambit *a)
{
  const double most = a->offers[fastest(a->offers, count(a))].bandwidth;

  for (int i = 0; i < count(a); i++)
    a->offers[i].left_out = *a->offers[i].name && a->offers[i].bandwidth < LEAST * most;
  for (int i = count(a) - 1; i >= 0; i--) {
    const ambit__offer *twin = twin_of(a, i);

    if (twin && twin->bandwidth >= a->offers[i].bandwidth) a->offers[i].left_out = true;
  }
}

/* A process keeps its fastest device in any case, if need be without cells. */
static ambit_status remove_engines(ambit *a)
{
  const ambit__offer *mine = a->offers + (size_t)a->noffers * (size_t)a->net->rank;
  const int kept = fastest(mine, a->nengines);

  for (int i = 0; i < a->nengines; i++)
    a->engines[i].share = mine[i].left_out ? 0 : mine[i].bandwidth;
  for (int i = a->nengines - 1; i >= 0; i--) {
    if (!mine[i].left_out) continue;
    ambit__log(&a->settings, 1, "%s is left out: it copies %.4g GB/s (chip %llx)", mine[i].name,
               mine[i].bandwidth / 1e9, (unsigned long long)mine[i].chip);
    if (i != kept) AMBIT_TRY(ambit__engine_remove(a, i));
  }
  return AMBIT_OK;
}

ambit_status ambit__offers_make(ambit *a)
{
  bool wanted;

  AMBIT_TRY(is_wanted(a, &wanted));
  if (!wanted) return AMBIT_OK;
  AMBIT_TRY(gather(a));
  if (!all_are_known(a)) {
    ambit__offers_free(a);
    return AMBIT_OK;
  }
  if (!strcmp(a->settings.partition, "auto")) leave_out(a); /* a given one has a part for each */
  remove_engines(a);
  return ambit__net_agree(a->net);
}

/* Parts on one engine divide its share. */
ambit_status ambit__offers_share(ambit *a)
{
  const ambit__placement *x = &a->placement;
  const int n = x->first[a->net->size];

  if (!a->offers) return AMBIT_OK;
  a->shares = ambit__new(&a->errors, (size_t)n, sizeof *a->shares);
  AMBIT_TRY(ambit__net_agree(a->net));
  for (int i = 0; i < x->n; i++) {
    int parts = 0;

    for (int k = 0; k < x->n; k++)
      parts += x->engine[k] == x->engine[i];
    a->shares[x->first[a->net->rank] + i] = a->engines[x->engine[i]].share / parts;
  }
  return ambit__net_sum(a->net, a->shares, (size_t)n);
}

/* ---- printing ---- */

static void print_offer(const ambit *a, int i, FILE *out)
{
  const ambit__offer *x = &a->offers[i], *twin = twin_of(a, i);
  const ambit__offer *best = &a->offers[fastest(a->offers, count(a))];

  fprintf(out, "  left out: %s", x->name);
  if (a->net->size > 1) fprintf(out, " of process %d", i / a->noffers);
  if (twin)
    fprintf(out, " is the same chip as %s, and they could only take turns\n", twin->name);
  else
    fprintf(out, " copies %.4g GB/s, %s %.4g GB/s\n", x->bandwidth / 1e9, best->name,
            best->bandwidth / 1e9);
}

void ambit__offers_print(const ambit *a, FILE *out)
{
  int lines = 0;

  for (int i = 0; i < count(a); i++)
    if (a->offers[i].left_out && lines++ < MOST_LINES) print_offer(a, i, out);
  if (lines > MOST_LINES) fprintf(out, "  left out: %d more devices\n", lines - MOST_LINES);
}

void ambit__offers_free(ambit *a)
{
  free(a->offers);
  free(a->shares);
  a->offers = NULL;
  a->shares = NULL;
  a->noffers = 0;
}
