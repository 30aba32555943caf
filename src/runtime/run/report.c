/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - the progress line of a run, and the report after it. */
#include "base/clock.h"
#include "device/measure.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/program/cycle.h"
#include "runtime/program/join.h"
#include "runtime/run/balance.h"
#include "runtime/run/run.h"
#include "runtime/sleep/sleep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIVE_SECONDS  0.1 /* between updates on a terminal */
#define PLAIN_SECONDS 2.0 /* between lines of other output */

ambit__progress ambit__progress_start(const ambit_program *p, int64_t most)
{
  const ambit *a = p->grid->context;
  ambit__progress s = {.on = a->settings.progress && a->net->rank == 0};

  s.live = isatty(STDERR_FILENO);
  s.started = s.shown = ambit__clock();
  s.first = p->iteration;
  s.most = most;
  for (size_t i = 0; i < p->nsteps; i++)
    s.cells += p->applies[i].cells / (double)p->steps[i].every;
  return s;
}

static void print_duration(char *text, size_t size, double seconds)
{
  int64_t s = (int64_t)(seconds + 0.5);

  if (s >= 3600)
    snprintf(text, size, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
  else
    snprintf(text, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

void ambit__progress_show(ambit__progress *s, const ambit_program *p, bool last)
{
  double now, rate;
  int64_t done = p->iteration - s->first;
  char left[32];

  if (!s->on) return;
  now = ambit__clock();
  if (!last && now - s->shown < (s->live ? LIVE_SECONDS : PLAIN_SECONDS)) return;
  s->shown = now;
  rate = now > s->started ? (double)done / (now - s->started) : 0;
  fprintf(stderr, "%s%" PRId64, s->live ? "\r" : "", done);
  if (s->most) fprintf(stderr, " of %" PRId64, s->most);
  fputs(" iterations", stderr);
  if (s->most) fprintf(stderr, ", %3.0f %%", 100.0 * (double)done / (double)s->most);
  fprintf(stderr, ", %.2f Gcells/s", rate * s->cells / 1e9);
  print_duration(left, sizeof left, rate > 0 ? (double)(s->most - done) / rate : 0);
  if (s->most) fprintf(stderr, ", %s left", left);
  fputs(s->live ? "\033[K" : "\n", stderr);
  if (last && s->live) fputc('\n', stderr);
  fflush(stderr);
}

/* The sum of the copy bandwidths of all engines of all processes. */
static ambit_status copy_bandwidth(ambit *a, double *total)
{
  *total = 0;
  for (int i = 0; i < a->nengines; i++)
    *total += ambit__device_copies(a->engines[i].device);
  AMBIT_TRY(ambit__meet(a, "measures the copy bandwidth"));
  return ambit__net_sum(a->net, total, 1);
}

const ambit_stats *ambit_program_stats(ambit_program *p, int measure_copy)
{
  if (!p || ambit__failed(p->grid->context)) return NULL;
  p->told = p->stats;
  p->told.copy_bandwidth = 0;
  if (measure_copy && copy_bandwidth(p->grid->context, &p->told.copy_bandwidth)) return NULL;
  return &p->told;
}

/* The plan of several iterations at once, if the last ones were. */
static void print_cycle(const ambit_program *p)
{
  char plan[AMBIT__PLAN_CHARS];

  if (!p->cycle || !ambit__cycle_is_preferred(p)) return;
  ambit__cycle_print(p, plan);
  if (!*plan) return;
  fprintf(stderr, "  all steps              %s\n", plan);
}

static void print_calls(const ambit_program *p)
{
  for (size_t i = 0; i < p->nwritten; i++)
    if (p->written[i].call.program)
      fprintf(stderr, "  step %zu  call           %" PRId64 " iterations so far\n", i + 1,
              p->written[i].call.program->iteration);
}

/* "2", or "2+3" of joined steps. */
static void print_number(const ambit_program *p, size_t step, char *text, size_t size)
{
  const uint64_t joined = p->steps[step].joined;
  size_t length = 0;

  snprintf(text, size, "%zu", step + 1);
  for (size_t i = 0; i < p->nwritten && joined && length < size; i++)
    if (joined >> i & 1)
      length += (size_t)snprintf(text + length, size - length, "%s%zu", length ? "+" : "", i + 1);
}

static bool are_joined(const ambit_program *p, size_t a, size_t b)
{
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].joined >> a & p->steps[i].joined >> b & 1) return true;
  return false;
}

/* Steps next to each other that could save traffic as one, but for a reason. */
static void print_apart(const ambit_program *p)
{
  const ambit *a = p->grid->context;
  char reason[256];

  if (!a->settings.join || ambit__options_checks(a) || p->nwritten > AMBIT__JOINABLE_STEPS) return;
  for (size_t i = 1; i < p->nwritten; i++) {
    const ambit__step *before = &p->written[i - 1], *s = &p->written[i];

    if (are_joined(p, i - 1, i) || ambit__steps_saving(before, s) <= 0 ||
        ambit__steps_can_join(p, before, s, reason, sizeof reason))
      continue;
    fprintf(stderr, "  steps %zu and %zu are not joined: %s\n", i, i + 1, reason);
  }
}

static void print_plans(const ambit_program *p)
{
  char number[64];

  for (size_t i = 0; i < p->nsteps; i++)
    for (int e = 0; p->applies && p->applies[i].functions && e < p->grid->context->nengines; e++) {
      print_number(p, i, number, sizeof number);
      fprintf(stderr, "  step %s  %-14s %s\n", number, p->steps[i].kernel->rule->name,
              p->applies[i].functions[e]->plan);
    }
  print_apart(p);
  print_calls(p);
  print_cycle(p);
}

/* "Neoverse-V1, 2 cores, 2 processes, 4 parts" */
static void print_machines(const ambit_grid *g)
{
  const ambit *a = g->context;
  ambit__device_info info;

  for (int i = 0; i < a->nengines; i++) {
    a->engines[i].device->backend->info(a->engines[i].device, &info);
    fprintf(stderr, "%s%s", i ? " and " : "", info.name);
  }
  if (a->net->size > 1) fprintf(stderr, ", %d processes", a->net->size);
  if (g->nparts > 1) fprintf(stderr, ", %d parts", g->nparts);
  if (a->chosen && a->engines[0].backend != &ambit__backend_cpu)
    fprintf(stderr, "\n  on %s, the fastest device here", a->settings.devices);
}

static void print_checkpoints(const ambit *a)
{
  const ambit__checkpoint *c = a->checkpoint;
  const int n = c ? c->saves + (c->saving != NULL) : 0;

  if (n)
    fprintf(stderr,
            "  %d checkpoint%s so far: all runs waited %.3g s for them, %.3g s of writing%s\n", n,
            n == 1 ? "" : "s", c->waited, c->wrote,
            c->sync ? "; there was no memory for a copy of all fields" : " beside them");
}

ambit_status ambit_program_report(ambit_program *p)
{
  const ambit_grid *g;
  const ambit_stats *s = ambit_program_stats(p, 1);
  double per_second, tiles, slept, updates, relaxed;

  if (!s) return p ? p->grid->context->errors.status : AMBIT_EINVAL;
  g = p->grid;
  AMBIT_TRY(ambit__sleep_share(p, &tiles, &slept));
  AMBIT_TRY(ambit__relax_updates(p, &updates, &relaxed));
  AMBIT_TRY(ambit__balance_gather(p));
  if (p->grid->context->net->rank) return AMBIT_OK;
  per_second = s->seconds > 0 ? 1 / s->seconds : 0;
  fprintf(stderr, "%" PRId64 " iteration%s in %.3f s on ", s->iterations,
          s->iterations == 1 ? "" : "s", s->seconds);
  print_machines(p->grid);
  fprintf(stderr, "\n  %.3f Gcells/s, %.2f Gflop/s\n", s->cells * per_second / 1e9,
          s->flops * per_second / 1e9);
  fprintf(stderr, "  %.2f GB/s of the %.2f GB/s this machine copies: %.0f %%\n",
          s->bytes * per_second / 1e9, s->copy_bandwidth / 1e9,
          s->copy_bandwidth > 0 ? 100 * s->bytes * per_second / s->copy_bandwidth : 0);
  print_plans(p);
  if (p->observed > 0) fprintf(stderr, "  the devices waited %.3f s for output\n", p->observed);
  if (slept > 0)
    fprintf(stderr, "  %.1f %% of the tiles slept in %.0f iterations\n", 100 * slept / tiles,
            (double)p->sleep->iterations);
  if (relaxed > 0)
    fprintf(stderr, "  relaxed in place in %.0f iterations: %.1f updates per cell\n", relaxed,
            updates / (double)(g->active ? g->active->cells : ambit__box_volume(&g->box)));
  print_checkpoints(g->context);
  ambit__balance_print(p);
  ambit__offers_print(p->grid->context, stderr);
  return AMBIT_OK;
}
