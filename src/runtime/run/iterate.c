/* SPDX-License-Identifier: BSD-3-Clause */
/* iterate.c - many iterations: cycles, and single iterations for the rest.
 *
 * A cycle that a model chose (option depth is auto) is compared with single iterations at the
 * start of the first run, and given up if it is not faster. Both give the same results.
 */
#include "base/clock.h"
#include "base/log.h"
#include "runtime/program/cycle.h"
#include "runtime/run/run.h"
#include "runtime/sleep/sleep.h"

enum { ROUNDS = 2 }; /* of a trial, each way */

static bool may_refuse(const ambit_program *p)
{
  return !p->grid->context->settings.depth;
}

static bool is_on_trial(const ambit_program *p)
{
  const ambit__trial *t = &p->cycle->trial;

  return may_refuse(p) && (t->cycles < ROUNDS || t->singles < ROUNDS);
}

/* Cycles are tried first, then single iterations; then the faster way is taken. */
bool ambit__cycle_is_preferred(const ambit_program *p)
{
  const ambit__trial *t = &p->cycle->trial;

  if (!may_refuse(p) || t->cycles < ROUNDS) return true;
  return t->singles >= ROUNDS && t->cycle < t->single;
}

static void note(ambit_program *p, bool cycle, double seconds)
{
  ambit__trial *t = &p->cycle->trial;
  double *best = cycle ? &t->cycle : &t->single;
  int *n = cycle ? &t->cycles : &t->singles;

  if (!*n || seconds < *best) *best = seconds;
  ++*n;
  if (!is_on_trial(p))
    ambit__log(&p->grid->context->settings, 1,
               "%d iterations at once take %.3g s, single ones %.3g s: %s",
               p->cycle->schedule.iterations, t->cycle, t->single,
               ambit__cycle_is_preferred(p) ? "at once" : "single");
}

static ambit_status iterate_single(ambit_program *p, int64_t n, ambit__progress *progress)
{
  for (int64_t i = 0; i < n; i++) {
    AMBIT_TRY(ambit__run_or_stop(p, ambit__program_iterate(p)));
    if (progress->on) ambit__progress_show(progress, p, false);
  }
  return AMBIT_OK;
}

/* As many iterations as a cycle has, as a cycle or one by one. */
static ambit_status iterate_round(ambit_program *p, bool cycle, ambit__progress *progress)
{
  const bool timed = is_on_trial(p);
  double start, seconds;

  if (timed) AMBIT_TRY(ambit__run_or_stop(p, ambit__engines_wait(p->grid->context)));
  start = ambit__clock();
  if (cycle)
    AMBIT_TRY(ambit__run_or_stop(p, ambit__program_iterate_cycle(p)));
  else
    AMBIT_TRY(iterate_single(p, p->cycle->schedule.iterations, progress));
  if (progress->on) ambit__progress_show(progress, p, false);
  if (!timed) return AMBIT_OK;
  AMBIT_TRY(ambit__run_or_stop(p, ambit__engines_wait(p->grid->context)));
  seconds = ambit__clock() - start;
  AMBIT_TRY(ambit__net_max(p->grid->context->net, &seconds, 1)); /* all come to the same result */
  note(p, cycle, seconds);
  return AMBIT_OK;
}

ambit_status ambit__program_iterate_many(ambit_program *p, int64_t n, ambit__progress *progress)
{
  const int64_t end = p->iteration + n;
  bool ready = true; /* halos are valid for a single iteration */
  bool can = p->cycle && n >= p->cycle->schedule.iterations + p->cycle->tail;

  if (can && p->cycle->fused)
    AMBIT_TRY(ambit__run_or_stop(p, ambit__fuse_ready(p, p->cycle->fused, &can)));
  while (p->iteration < end) {
    const bool round = can && ambit__sleep_pause(p) &&
                       end - p->iteration >= p->cycle->schedule.iterations + p->cycle->tail;
    const bool cycle = round && ambit__cycle_is_preferred(p);

    if (!cycle && !ready) AMBIT_TRY(ambit__run_or_stop(p, ambit__program_ready(p)));
    ready = !cycle;
    AMBIT_TRY(round ? iterate_round(p, cycle, progress) : iterate_single(p, 1, progress));
  }
  if (ready) ambit__program_rest(p);
  return AMBIT_OK;
}
