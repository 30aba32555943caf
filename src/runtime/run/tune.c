/* SPDX-License-Identifier: BSD-3-Clause */
/* tune.c - the trial of a program: finds its fastest plan by timing, and remembers it.
 *
 * The candidates are single iterations, with the plans of the estimate and with plain nests, the
 * model's depth, its rival, and waves whose functions another compiler makes; with the option tune
 * also other depths, and then other plans of the fastest depth. Some iterations of a run are
 * computed with each of them. All give the same results, so nothing is computed in vain. All
 * processes take the same times, the longest, and the plans of process 0. A trial is held at the
 * start of a run if the option tune asks for it, or else in the middle of a long one.
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
  PLANS = 5,                 /* others of the fastest depth */
  SIZES = 4,                 /* of these, other sizes of a wavefront */
  MOST = 1 + DEPTHS + PLANS, /* candidates */
  ROUNDS = 3,                /* of a candidate in its turn; the first one is not timed */
  LEAST = 8                  /* iterations of a round, in cycles */
};

/* A candidate has one turn, as it has to be sealed for it. Times of a busy machine vary, so a later
 * candidate, which is deeper or farther from the model, must be clearly faster. */
static const ambit__trial_rules rules = {.rounds = 1, .clearly = 0.98};

/* Without the option, a trial is held in runs of at least LONG seconds by estimate, SOON after
 * their start, when compilers are through and caches and cores are warm, and if it takes at most
 * 1 / SHARE of the iterations. */
static const double LONG = 20, SOON = 2;
enum { SHARE = 20 };

/* Seconds of a round in it at least, so that waiting for a GPU counts little: 9 iterations of 5.5
 * us took 6.4 us each. */
static const double ROUND = 2e-3;

static const char plain_nest[] = "(cells";

/* ---- the machine ---- */

/* A measurement takes 0.3 to 0.5 s. It is made after a program has run for WORTH seconds, for later
 * ones, or before a run of twice as many by the estimate, which knows neither waves nor whether the
 * recorded speeds are near: a tenth of the time at most. */
static const double WORTH = 5;

/* Seconds of n iterations, if memory is the limit, or the cache that keeps them. */
static double expected(const ambit_program *p, int64_t n, const ambit__machine *m)
{
  double bytes = 0;

  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY && p->steps[i].kernel)
      bytes += ambit__price_of(p->steps[i].kernel->rule).bytes;
  bytes *= (double)ambit__box_volume(&p->grid->box);
  return 1e-9 * bytes * (double)n / (bytes > m->kept ? m->copy : m->copy3);
}

/* Processes that share the cores of a node would disturb each other, and sparse grids do not say
 * how many cells they compute. */
void ambit__machine_prepare(const ambit_program *p, int64_t n)
{
  const ambit *a = p->grid->context;
  const bool alone = a->net->size == 1 && !a->dry && !p->grid->active && a->nengines == 1;
  ambit__device *dev = alone ? a->engines[0].device : NULL;

  if (dev && ambit__can(dev->backend, plans) &&
      (a->settings.tune || p->stats.seconds >= WORTH || expected(p, n, &dev->machine) >= 2 * WORTH))
    ambit__device_measure(dev, false);
}

/* ---- candidates ---- */

static void add(ambit__timing *times, int *n, int depth, const char *plan)
{
  for (int i = 0; i < *n; i++)
    if (times[i].depth == depth && !strcmp(times[i].plan, plan)) return;
  if (*n == MOST) return;
  times[*n] = (ambit__timing){.depth = depth};
  snprintf(times[(*n)++].plan, AMBIT__PLAN_CHARS, "%s", plan);
}

/* Whether single iterations can be computed by plain nests that are not tried otherwise: kernels of
 * cores have a trial of their own in long runs. */
static bool has_plain(const ambit_program *p)
{
  const ambit__settings *s = &p->grid->context->settings;
  const ambit__device *dev = p->grid->placement.n ? ambit__engine_of(p->grid, 0)->device : NULL;

  return dev && ambit__can(dev->backend, plans) && !*s->plan &&
         (s->tune || (s->trial && dev->backend->estimate));
}

/* The model's depth, and some around it. */
static void add_depths(const ambit_program *p, ambit__timing *times, int *n)
{
  const int model = p->cycle ? p->cycle->schedule.iterations : 4;
  const int around[DEPTHS] = {1, model / 2, 3 * model / 4, model, 3 * model / 2, 2 * model};
  const int looping[DEPTHS] = {1, 2, 4, 8, 12, AMBIT__FUSE_TURNS};
  const int *depths = p->cycle && ambit__cycle_is_elastic(p->cycle) ? looping : around;

  for (int i = 0; i < DEPTHS; i++)
    if (depths[i] > 1) add(times, n, depths[i], "");
}

/* A wave by another compiler, whose name is known when it is sealed. Functions of single iterations
 * have trials of their own, with other compilers among them (device/cpu/trial.c). */
static void add_compiler(ambit__timing *times, int *n, const ambit__timing *like)
{
  char plan[AMBIT__PLAN_CHARS];

  if (!ambit__plan_begins(like->plan, "(wavefront") || ambit__plan_compiler(like->plan)) return;
  if ((size_t)snprintf(plan, sizeof plan, "%s by another", like->plan) < sizeof plan)
    add(times, n, like->depth, plan);
}

/* The model's plan, and its rival. */
static void add_rival(const ambit_program *p, ambit__timing *times, int *n)
{
  const ambit__cycle *c = p->cycle;

  if (c) {
    ambit__timing now = {.depth = ambit__cycle_is_elastic(c) ? c->fused->plan.depth
                                                             : c->schedule.iterations};

    ambit__cycle_print(p, now.plan);
    add(times, n, now.depth, now.plan);
    add_compiler(times, n, &now);
  }
  if (p->rival.depth) add(times, n, p->rival.depth, p->rival.plan);
}

static int list(const ambit_program *p, ambit__timing *times)
{
  int n = 0;

  add(times, &n, 1, "");
  if (has_plain(p)) add(times, &n, 1, plain_nest);
  (p->grid->context->settings.tune ? add_depths : add_rival)(p, times, &n);
  return n;
}

/* Wavefronts by another compiler, with half and twice as many rows, and with such strips, or tiles
 * if they have none. */
static void vary_wavefront(ambit__timing *times, int *n, const ambit__timing *best)
{
  const ambit__wavefront_wish now = ambit__wavefront_read(best->plan);

  add_compiler(times, n, best);
  for (int i = 0; i < SIZES; i++) {
    char plan[AMBIT__PLAN_CHARS];
    ambit__wave_sizes size = now.size;
    int64_t *s = i < 2 ? &size.block : size.strip ? &size.strip : &size.tile;

    if (!*s || (i % 2 == 0 && *s < 2)) continue;
    *s = i % 2 ? *s * 2 : *s / 2;
    ambit__wavefront_print_sizes(best->depth, &size, plan, sizeof plan);
    add(times, n, best->depth, plan);
  }
}

/* Launches: the device's other plans, the fastest by its estimates. */
static void vary_fused(const ambit_program *p, ambit__timing *times, int *n,
                       const ambit__timing *best)
{
  ambit__device *dev = ambit__engine_of(p->grid, 0)->device;
  const int most = *n + PLANS;
  ambit__text lines = {0};

  if (!ambit__can(dev->backend, plans)) return;
  ambit__ask(dev, plans, &p->cycle->fused->group, &lines);
  for (char *line = lines.chars, *end; line && (end = strchr(line, '\n')) && *n < most;
       line = end + 1) {
    *end = '\0';
    add(times, n, best->depth, line);
  }
  ambit__text_free(&lines);
}

/* ---- timing ---- */

/* Iterations of a round at least. */
static int64_t least_round(const ambit_program *p, const ambit__timing *times, int n)
{
  int64_t least = p->rival.seconds > 0 ? (int64_t)(ROUND / p->rival.seconds) : 0;

  if (p->grid->context->settings.tune) return LEAST;
  for (int i = 0; i < n; i++)
    if (least < 2 * times[i].depth) least = 2 * times[i].depth;
  return least;
}

/* Iterations of a round: whole cycles, two or more, and a single one to end with. */
static int64_t round_of(int depth, int64_t least)
{
  const int64_t cycles = (least + depth - 1) / depth;

  return (cycles > 2 ? cycles : 2) * depth + 1;
}

int64_t ambit__trial_iterations(const ambit_program *p)
{
  ambit__timing times[MOST];
  const int n = list(p, times);
  const int64_t least = least_round(p, times, n);
  int64_t all = 0;

  if (p->grid->context->settings.tune) all = PLANS * ROUNDS * round_of(times[n - 1].depth, LEAST);
  for (int i = 0; i < n; i++)
    all += ROUNDS * round_of(times[i].depth, least);
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

/* Whether the program runs as a candidate says. Collective. */
static ambit_status check_plan(const ambit_program *p, const ambit__timing *t, bool *runs)
{
  char now[AMBIT__PLAN_CHARS];

  *runs = t->depth > 1 ? p->cycle != NULL : !*t->plan;
  ambit__cycle_print(p, now);
  if (t->depth > 1 && ambit__plan_compiler(t->plan)) *runs &= ambit__plan_compiler(now) != NULL;
  for (size_t i = 0; i < p->nsteps && t->depth == 1 && !*runs; i++)
    for (int e = 0; p->applies[i].functions && e < p->grid->context->nengines; e++)
      *runs |= ambit__plan_begins(p->applies[i].functions[e]->plan, t->plan);
  return ambit__net_all(p->grid->context->net, runs, 1);
}

/* Times rounds of n iterations. Seconds stay 0 if the candidate is not possible. Leaves the plan
 * that was timed. */
static ambit_status time_plan(ambit_program *p, ambit__timing *t, int64_t n,
                              ambit__progress *progress)
{
  bool runs;

  AMBIT_TRY(take_plan(p, t));
  AMBIT_TRY(check_plan(p, t, &runs));
  if (t->depth > 1) ambit__cycle_print(p, t->plan);
  AMBIT_TRY(ambit__plan_share(p->grid->context->net, t->plan));
  for (int i = 0; i < ROUNDS && runs; i++) {
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

/* Gives candidates from .. n - 1 their turns. */
static ambit_status time_some(ambit_program *p, ambit__trial *t, ambit__timing *times, int n,
                              int64_t least, ambit__progress *progress)
{
  for (int i = t->n; i < n; i++) {
    AMBIT_TRY(time_plan(p, &times[i], round_of(times[i].depth, least), progress));
    t->best[i] = times[i].seconds;
  }
  t->n = n;
  return AMBIT_OK;
}

/* Adds plans like the fastest one so far. Collective: process 0 lists them. */
static ambit_status vary(ambit_program *p, const ambit__trial *t, ambit__timing *times, int *n)
{
  const ambit__timing best = times[ambit__trial_fastest(t, &rules)];
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

static ambit_status find_fastest(ambit_program *p, ambit__progress *progress)
{
  const ambit__settings *settings = &p->grid->context->settings;
  ambit__timing times[MOST];
  ambit__trial t = {0};
  int n = list(p, times), best;
  const int64_t least = least_round(p, times, n);

  AMBIT_TRY(time_some(p, &t, times, n, least, progress));
  if (settings->tune) AMBIT_TRY(vary(p, &t, times, &n));
  AMBIT_TRY(time_some(p, &t, times, n, least, progress));
  best = ambit__trial_fastest(&t, &rules);
  AMBIT_TRY(take_plan(p, &times[best]));
  ambit__tuned_note(p, times, n);
  for (int i = 0; i < n; i++)
    if (times[i].seconds > 0)
      ambit__log(settings, 1, "%.3g s per iteration: depth %d%s%s%s", times[i].seconds,
                 times[i].depth, *times[i].plan ? " " : "", times[i].plan,
                 i == best ? ", which goes on" : "");
  return AMBIT_OK;
}

ambit_status ambit__program_try(ambit_program *p, ambit__progress *progress)
{
  ambit_status s;

  p->tuning = true;
  s = find_fastest(p, progress);
  p->tuning = false;
  return s;
}

/* ---- when ---- */

/* Whether the option tune asks for a trial, and the result is not known. */
static bool is_asked(const ambit_program *p)
{
  return p->grid->context->settings.tune && !ambit__cycle_is_asked(p) && !p->tuned && !p->balance &&
         !ambit__cycle_refuse_steps(p) && !ambit__roles_first(p);
}

/* Whether there is a rival of the model's choice, or another compiler may be. */
static bool has_others(const ambit_program *p)
{
  const bool waves = p->cycle && p->cycle->wavefront && !p->tuned && p->rival.seconds > 0;

  if (ambit__roles_first(p)) return false; /* depth 1 means the pass, and single iterations */
  return p->rival.depth || (waves && !*p->grid->context->settings.cc);
}

static bool is_due(const ambit_program *p)
{
  return is_asked(p) || (p->grid->context->settings.trial && has_others(p) &&
                         !ambit__lean_is_open(p) && ambit__sleep_pause(p) > 0);
}

int64_t ambit__trial_begin_at(ambit_program *p, int64_t n)
{
  const double seconds = p->rival.seconds;

  if (is_asked(p)) return p->iteration;
  if ((double)n * seconds < LONG || ambit__cycle_find_rival(p) || !is_due(p) ||
      n < SHARE * ambit__trial_iterations(p))
    return INT64_MAX;
  if (p->rival.depth) ambit__fuse_foresee(p, &p->rival);
  return p->iteration + (int64_t)(SOON / seconds);
}

bool ambit__trial_fits(const ambit_program *p, int64_t n)
{
  return is_due(p) && n >= ambit__trial_iterations(p);
}
