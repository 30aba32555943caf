/* SPDX-License-Identifier: BSD-3-Clause */
/* tune.c - finds the fastest plan for several iterations by timing: of many (option tune), or, in a
 * long run, of single iterations, the model's choice and its rival.
 *
 * The first iterations of a run are computed in cycles of several depths, some of each, with the
 * plans of the model; then with other plans of the fastest depth. All give the same results, so
 * nothing is computed in vain. All processes take the same times, the longest, and the plans of
 * process 0.
 */
#include "base/clock.h"
#include "base/log.h"
#include "device/measure.h"
#include "runtime/program/cycle.h"
#include "runtime/run/run.h"
#include "runtime/sleep/sleep.h"

#include <stdio.h>
#include <string.h>

enum {
  DEPTHS = 6,
  PLANS = 4, /* others of the fastest depth */
  MOST = DEPTHS + PLANS,
  ROUNDS = 3, /* the first round of a plan is not timed */
  LEAST = 8   /* iterations of a round, in cycles */
};

static const double CLEARLY = 0.98;

/* A rival is tried in runs of at least LONG seconds by estimate, SOON after their start, when its
 * compiler is through and caches and cores are warm, and if that takes at most 1 / SHARE of the
 * iterations. */
static const double LONG = 20, SOON = 2;
enum { SHARE = 20 };

/* Seconds of a round of it at least, so that waiting for a GPU counts little: 9 iterations of 5.5
 * us took 6.4 us each. */
static const double ROUND = 2e-3;

/* ---- the machine ---- */

/* Seconds of n iterations, if memory is the limit. */
static double expected(const ambit_program *p, int64_t n, const ambit__machine *m)
{
  double bytes = 0;

  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY && p->steps[i].kernel)
      bytes += ambit__price_of(p->steps[i].kernel->rule).bytes;
  return 1e-9 * bytes * (double)ambit__box_volume(&p->grid->box) * (double)n / m->copy;
}

/* Processes that share the cores of a node would disturb each other, and sparse grids do not say
 * how many cells they compute. */
void ambit__machine_prepare(const ambit_program *p, int64_t n)
{
  const ambit *a = p->grid->context;
  const bool alone = a->net->size == 1 && !a->dry && !p->grid->active && a->nengines == 1;
  ambit__device *dev = alone ? a->engines[0].device : NULL;

  if (dev && (a->settings.tune || expected(p, n, &dev->machine) >= LONG))
    ambit__device_measure(dev, false);
}

/* ---- timing ---- */

/* Single iterations, the depth of the model, and some around it. */
static int list_depths(const ambit_program *p, ambit__timing *times)
{
  const int model = p->cycle ? p->cycle->schedule.iterations : 4;
  const int around[DEPTHS] = {1, model / 2, 3 * model / 4, model, 3 * model / 2, 2 * model};
  const int looping[DEPTHS] = {1, 2, 4, 8, 12, AMBIT__FUSE_TURNS};
  const int *depths = p->cycle && ambit__cycle_is_elastic(p->cycle) ? looping : around;
  int n = 0;

  for (int i = 0; i < DEPTHS; i++)
    if (!n || depths[i] > times[n - 1].depth) times[n++] = (ambit__timing){.depth = depths[i]};
  return n;
}

/* Iterations of a round: whole cycles, two or more, and a single one to end with. */
static int64_t round_of(int depth, int64_t least)
{
  const int64_t cycles = (least + depth - 1) / depth;

  return (cycles > 2 ? cycles : 2) * depth + 1;
}

int64_t ambit__tune_iterations(const ambit_program *p)
{
  ambit__timing times[DEPTHS];
  const int n = list_depths(p, times);
  int64_t all = PLANS * ROUNDS * round_of(times[n - 1].depth, LEAST);

  for (int i = 0; i < n; i++)
    all += ROUNDS * round_of(times[i].depth, LEAST);
  return all;
}

/* Seals the program with the depth and plan of a timing. */
static ambit_status take_plan(ambit_program *p, const ambit__timing *t)
{
  p->tuned = t->depth;
  memcpy(p->tuned_plan, t->plan, sizeof t->plan);
  ambit__program_unseal(p);
  AMBIT_TRY(ambit__program_seal(p));
  return ambit__run_or_stop(p, ambit__program_ready(p));
}

/* Times rounds of n iterations. Seconds stay 0 if the depth is not possible. Leaves the plan that
 * was timed. */
static ambit_status time_plan(ambit_program *p, ambit__timing *t, int64_t n,
                              ambit__progress *progress)
{
  AMBIT_TRY(take_plan(p, t));
  ambit__cycle_print(p, t->plan);
  AMBIT_TRY(ambit__plan_share(p->grid->context->net, t->plan));
  for (int i = 0; i < ROUNDS && (p->cycle || t->depth == 1); i++) {
    const double start = ambit__clock();
    double seconds;

    AMBIT_TRY(ambit__program_iterate_many(p, n, progress));
    AMBIT_TRY(ambit__run_or_stop(p, ambit__engines_wait(p->grid->context)));
    seconds = (ambit__clock() - start) / (double)n;
    AMBIT_TRY(ambit__net_max(p->grid->context->net, &seconds, 1));
    if (i == 1 || (i > 1 && seconds < t->seconds)) t->seconds = seconds;
    AMBIT_TRY(ambit__run_or_stop(p, ambit__program_ready(p)));
  }
  return AMBIT_OK;
}

/* Times entries from .. *n - 1, in rounds of so many iterations at least, and leaves out those that
 * are not possible. */
static ambit_status time_some(ambit_program *p, ambit__timing *times, int from, int *n,
                              int64_t least, ambit__progress *progress)
{
  int kept = from;

  for (int i = from; i < *n; i++) {
    AMBIT_TRY(time_plan(p, &times[i], round_of(times[i].depth, least), progress));
    if (times[i].seconds > 0) times[kept++] = times[i];
  }
  *n = kept;
  return AMBIT_OK;
}

/* The first entry has single iterations: what is not faster is never taken. The times of a busy
 * machine vary, so a later entry, which is deeper or farther from the model, must be clearly
 * faster. */
static int fastest(const ambit__timing *times, int n)
{
  int best = 0;

  for (int i = 1; i < n; i++)
    if (times[i].seconds < CLEARLY * times[best].seconds) best = i;
  return best;
}

/* ---- other plans of a depth ---- */

static void add_plan(ambit__timing *times, int *n, int depth, const char *plan)
{
  for (int i = 0; i < *n; i++)
    if (!strcmp(times[i].plan, plan)) return;
  if (*n == MOST) return;
  times[*n] = (ambit__timing){.depth = depth};
  snprintf(times[(*n)++].plan, AMBIT__PLAN_CHARS, "%s", plan);
}

/* Wavefronts with half and twice as many rows, and with such strips, or tiles if they have none. */
static void vary_wavefront(ambit__timing *times, int *n, const ambit__timing *best)
{
  const ambit__wavefront_wish now = ambit__wavefront_read(best->plan);

  for (int i = 0; i < PLANS; i++) {
    char plan[AMBIT__PLAN_CHARS];
    ambit__wave_sizes size = now.size;
    int64_t *s = i < 2 ? &size.block : size.strip ? &size.strip : &size.tile;

    if (!*s || (i % 2 == 0 && *s < 2)) continue;
    *s = i % 2 ? *s * 2 : *s / 2;
    ambit__wavefront_print_sizes(best->depth, &size, plan, sizeof plan);
    add_plan(times, n, best->depth, plan);
  }
}

/* Launches: the device's other plans, the fastest by its estimates. */
static void vary_fused(const ambit_program *p, ambit__timing *times, int *n,
                       const ambit__timing *best)
{
  ambit__device *dev = ambit__engine_of(p->grid, 0)->device;
  const int most = *n + PLANS;
  ambit__text lines = {0};

  if (!dev->backend->plans) return;
  dev->backend->plans(dev, &p->cycle->fused->group, &lines);
  for (char *line = lines.chars, *end; line && (end = strchr(line, '\n')) && *n < most;
       line = end + 1) {
    *end = '\0';
    add_plan(times, n, best->depth, line);
  }
  ambit__text_free(&lines);
}

/* Adds plans like the fastest one so far. Collective: process 0 lists them. */
static ambit_status list_plans(ambit_program *p, ambit__timing *times, int *n)
{
  const ambit__timing best = times[fastest(times, *n)];
  const int from = *n;

  AMBIT_TRY(take_plan(p, &best));
  if (p->cycle && p->cycle->wavefront) vary_wavefront(times, n, &best);
  if (p->cycle && p->cycle->fused && p->grid->placement.n) vary_fused(p, times, n, &best);
  for (int i = from; i < MOST; i++) {
    if (i >= *n) times[i] = (ambit__timing){.depth = best.depth};
    AMBIT_TRY(ambit__plan_share(p->grid->context->net, times[i].plan));
  }
  for (*n = from; *n < MOST && *times[*n].plan;)
    ++*n;
  return AMBIT_OK;
}

/* ---- a rival ---- */

/* The ways that are compared: single iterations, the model's plan, and the rival. */
static int list_rivals(const ambit_program *p, ambit__timing times[3])
{
  const ambit__rival *r = &p->rival;
  int n = 1;

  for (int i = 0; i < 3; i++)
    times[i] = (ambit__timing){.depth = 1};
  if (p->cycle) {
    const ambit__cycle *c = p->cycle;

    times[n].depth = ambit__cycle_is_elastic(c) ? c->fused->plan.depth : c->schedule.iterations;
    ambit__cycle_print(p, times[n++].plan);
  }
  times[n].depth = r->depth;
  memcpy(times[n++].plan, r->plan, sizeof r->plan);
  return n;
}

/* Iterations of a round: as many of each way. */
static int64_t rival_round(const ambit_program *p, const ambit__timing *times, int n)
{
  int64_t least = (int64_t)(ROUND / p->rival.seconds);

  for (int i = 0; i < n; i++)
    if (least < 2 * times[i].depth) least = 2 * times[i].depth;
  return least;
}

static int64_t rival_iterations(const ambit_program *p)
{
  ambit__timing times[3];
  const int n = list_rivals(p, times);
  const int64_t least = rival_round(p, times, n);
  int64_t all = 0;

  for (int i = 0; i < n; i++)
    all += ROUNDS * round_of(times[i].depth, least);
  return all;
}

int64_t ambit__rival_begin(const ambit_program *p, int64_t n)
{
  const double seconds = p->rival.seconds;

  if (!p->rival.depth || (double)n * seconds < LONG || n < SHARE * rival_iterations(p))
    return INT64_MAX;
  ambit__fuse_foresee(p, &p->rival);
  return p->iteration + (int64_t)(SOON / seconds);
}

bool ambit__rival_fits(const ambit_program *p, int64_t n)
{
  return p->rival.depth && n > rival_iterations(p) && !ambit__lean_is_open(p) &&
         ambit__sleep_pause(p) > 0;
}

static ambit_status compare_rival(ambit_program *p, ambit__progress *progress)
{
  ambit__timing times[3];
  int n = list_rivals(p, times), best;

  AMBIT_TRY(time_some(p, times, 0, &n, rival_round(p, times, n), progress));
  best = fastest(times, n);
  AMBIT_TRY(take_plan(p, &times[best]));
  for (int i = 0; i < n; i++)
    ambit__log(&p->grid->context->settings, 1, "%.3g s per iteration: depth %d%s%s%s",
               times[i].seconds, times[i].depth, *times[i].plan ? " " : "", times[i].plan,
               i == best ? ", which goes on" : "");
  return AMBIT_OK;
}

/* ---- all ---- */

bool ambit__tune_is_due(const ambit_program *p)
{
  return p->grid->context->settings.tune && !ambit__cycle_is_asked(p) && !p->tuned && !p->balance &&
         !ambit__cycle_refuse_steps(p);
}

static ambit_status find_fastest(ambit_program *p, ambit__progress *progress)
{
  ambit__timing times[MOST];
  int n = list_depths(p, times), depths, best;

  AMBIT_TRY(time_some(p, times, 0, &n, LEAST, progress));
  depths = n;
  AMBIT_TRY(list_plans(p, times, &n));
  AMBIT_TRY(time_some(p, times, depths, &n, LEAST, progress));
  best = fastest(times, n);
  AMBIT_TRY(take_plan(p, &times[best]));
  ambit__tuned_note(p, times, n);
  ambit__log(&p->grid->context->settings, 1, "depth %d%s%s is the fastest of %d plans", p->tuned,
             *p->tuned_plan ? " " : "", p->tuned_plan, n);
  return AMBIT_OK;
}

static ambit_status tune(ambit_program *p, ambit__progress *progress,
                         ambit_status (*find)(ambit_program *, ambit__progress *))
{
  ambit_status s;

  p->tuning = true;
  s = find(p, progress);
  p->tuning = false;
  return s;
}

ambit_status ambit__program_tune(ambit_program *p, ambit__progress *progress)
{
  return tune(p, progress, find_fastest);
}

ambit_status ambit__rival_try(ambit_program *p, ambit__progress *progress)
{
  return tune(p, progress, compare_rival);
}
