/* SPDX-License-Identifier: BSD-3-Clause */
/* tune.c - finds the fastest depth by timing (option tune).
 *
 * The first iterations of a run are computed in cycles of several depths, some of each. All give
 * the same results, so nothing is computed in vain. All processes take the same times: the longest.
 */
#include "base/clock.h"
#include "base/log.h"
#include "runtime/program/cycle.h"
#include "runtime/run/run.h"

enum { DEPTHS = 6, ROUNDS = 3 }; /* the first round of a depth is not timed */

static const double CLEARLY = 0.98;

/* Single iterations, the depth of the model, and some around it. */
static int list_depths(const ambit_program *p, ambit__timing *times)
{
  const int model = p->cycle ? p->cycle->schedule.iterations : 4;
  const int depths[DEPTHS] = {1, model / 2, 3 * model / 4, model, 3 * model / 2, 2 * model};
  int n = 0;

  for (int i = 0; i < DEPTHS; i++)
    if (!n || depths[i] > times[n - 1].depth) times[n++] = (ambit__timing){depths[i], 0};
  return n;
}

/* Iterations of a round. */
static int64_t round_of(int depth)
{
  return 2 * depth + 1;
}

int64_t ambit__tune_iterations(const ambit_program *p)
{
  ambit__timing times[DEPTHS];
  const int n = list_depths(p, times);
  int64_t all = 0;

  for (int i = 0; i < n; i++)
    all += ROUNDS * round_of(times[i].depth);
  return all;
}

/* Seals the program with p->tuned. */
static ambit_status take_depth(ambit_program *p)
{
  ambit__program_unseal(p);
  AMBIT_TRY(ambit__program_seal(p));
  return ambit__run_or_stop(p, ambit__program_ready(p));
}

static ambit_status time_depth(ambit_program *p, ambit__timing *t, ambit__progress *progress)
{
  const int64_t n = round_of(t->depth);

  p->tuned = t->depth;
  AMBIT_TRY(take_depth(p));
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

/* Leaves out the depths that are not possible. */
static ambit_status time_all(ambit_program *p, ambit__timing *times, int *n,
                             ambit__progress *progress)
{
  int kept = 0;

  for (int i = 0; i < *n; i++) {
    AMBIT_TRY(time_depth(p, &times[i], progress));
    if (times[i].seconds > 0) times[kept++] = times[i];
  }
  *n = kept;
  return AMBIT_OK;
}

/* The times of a busy machine vary: a greater depth must be clearly faster. */
static int fastest(const ambit__timing *times, int n)
{
  int best = 0;

  for (int i = 1; i < n; i++)
    if (times[i].seconds < CLEARLY * times[best].seconds) best = i;
  return times[best].depth;
}

bool ambit__tune_is_due(const ambit_program *p)
{
  const ambit__settings *s = &p->grid->context->settings;

  return s->tune && !s->depth && !p->tuned && !p->balance && !ambit__cycle_refuse_steps(p);
}

ambit_status ambit__program_tune(ambit_program *p, ambit__progress *progress)
{
  ambit__timing times[DEPTHS];
  int n = list_depths(p, times);
  ambit_status s;

  p->tuning = true;
  s = time_all(p, times, &n, progress);
  if (!s) {
    p->tuned = fastest(times, n);
    ambit__tuned_note(p, times, n);
    ambit__log(&p->grid->context->settings, 1, "depth %d is the fastest of %d that were timed",
               p->tuned, n);
    s = take_depth(p);
  }
  p->tuning = false;
  return s;
}
