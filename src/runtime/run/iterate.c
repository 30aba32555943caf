/* SPDX-License-Identifier: BSD-3-Clause */
/* iterate.c - many iterations: cycles, and single iterations for the rest.
 *
 * A cycle that a model chose (option depth is auto, and nothing was measured) is compared with
 * single iterations at the start of the first run, and given up if it is not faster. Both give the
 * same results.
 *
 * Iterations that are left over at the end of a run are a shorter cycle. If it has to be compiled,
 * that is done as soon as running such iterations one by one has cost as much time, or at once if
 * the user asked for a depth.
 */
#include "base/clock.h"
#include "base/log.h"
#include "runtime/program/cycle.h"
#include "runtime/run/run.h"
#include "runtime/schedule/schedule.h"
#include "runtime/sleep/sleep.h"

enum { MOST_SHORTER = 8 };            /* cycles of a program */
enum { AT_ONCE, SINGLY, CANDIDATES }; /* of a trial */

/* Single iterations of large arrays are slow, and the time of two is known as well as that of
 * eight: they end after this share of the least time of a trial. A program of 40 iterations on
 * 160^3 doubles takes 0.185 s so, 0.21 s with eight. */
static const double KNOWN = 0.5;

/* A cycle comes first, when memory is cold: if it takes much less time, once is enough. On cores a
 * trial takes some time at least, unless one way is far slower, as other work may have one of them
 * for a while. 64^3 floats on two Neoverse cores, 63 us singly and 70 at once, had 340 and 140 in
 * every second trial of 2 ms: both threads were on one core. On GPUs a few turns more do: a wave on
 * 256^3 with receivers, 68 us singly and 130 at once on an H200, had 141 and 136 in one of three
 * trials of two turns. */
static const ambit__trial_rules
    on_cores = {.rounds = 2, .most = 32, .least = 0.03, .decided = 6, .surely = 0.8, .clearly = 1},
    elsewhere = {.rounds = 2, .most = 8, .least = 0.03, .decided = 6, .surely = 0.8, .clearly = 1};

static const ambit__trial_rules *rules_of(const ambit__cycle *c)
{
  return c->cores ? &on_cores : &elsewhere;
}

static bool may_refuse(const ambit_program *p)
{
  return !ambit__cycle_is_asked(p) && !p->tuned && p->grid->context->settings.trial;
}

static bool is_on_trial(const ambit_program *p, const ambit__cycle *c)
{
  return may_refuse(p) && !ambit__trial_ended(&c->trial, rules_of(c));
}

/* Cycles and single iterations take turns, since the first ones of a program are often slow; then
 * the faster way is taken. */
static bool is_preferred(const ambit_program *p, const ambit__cycle *c)
{
  if (!may_refuse(p)) return true;
  return (is_on_trial(p, c) ? c->trial.at : ambit__trial_fastest(&c->trial, rules_of(c))) ==
         AT_ONCE;
}

bool ambit__cycle_is_preferred(const ambit_program *p)
{
  return is_preferred(p, p->cycle);
}

/* seconds: of one iteration. */
static void note(ambit_program *p, ambit__cycle *c, double seconds, double spent, bool cores)
{
  c->cores = cores;
  c->trial.n = CANDIDATES;
  ambit__trial_note(&c->trial, rules_of(c), seconds, spent);
  if (!is_on_trial(p, c))
    ambit__log(&p->grid->context->settings, 1,
               "one of %d iterations at once takes %.3g s, a single one %.3g s: %s",
               c->schedule.iterations, c->trial.best[AT_ONCE], c->trial.best[SINGLY],
               is_preferred(p, c) ? "at once" : "single");
}

static ambit_status iterate_single(ambit_program *p, int64_t n, ambit__progress *progress)
{
  for (int64_t i = 0; i < n; i++) {
    AMBIT_TRY(ambit__run_or_stop(p, ambit__program_iterate(p)));
    if (progress->on) ambit__progress_show(progress, p, false);
  }
  return AMBIT_OK;
}

/* Runs a cycle of the list. */
static ambit_status iterate_cycle(ambit_program *p, ambit__cycle *c)
{
  ambit__cycle *first = p->cycle;
  ambit_status s;

  p->cycle = c;
  s = ambit__program_iterate_cycle(p);
  p->cycle = first;
  return ambit__run_or_stop(p, s);
}

/* One by one, n: as many as the cycle has, or so many that their time is known. */
static ambit_status iterate_timed(ambit_program *p, const ambit__cycle *c, double start,
                                  ambit__progress *progress, int *n)
{
  const bool is_alone = p->grid->context->net->size == 1 && c->wavefront;
  bool known = false;

  for (*n = 0; *n < c->schedule.iterations && !known; ++*n) {
    AMBIT_TRY(iterate_single(p, 1, progress));
    if (!is_alone) continue;
    AMBIT_TRY(ambit__run_or_stop(p, ambit__engines_wait(p->grid->context)));
    known = ambit__clock() - start >= KNOWN * on_cores.least;
  }
  return AMBIT_OK;
}

/* As many iterations as a cycle has, as a cycle or one by one; fewer, if they are timed. */
static ambit_status iterate_round(ambit_program *p, ambit__cycle *c, bool cycle,
                                  ambit__progress *progress)
{
  const bool timed = is_on_trial(p, c);
  double start, took[2] = {0, c->wavefront != NULL}; /* seconds; whether cores compute */
  int n = c->schedule.iterations;

  if (timed) AMBIT_TRY(ambit__run_or_stop(p, ambit__engines_wait(p->grid->context)));
  start = ambit__clock();
  AMBIT_TRY(cycle   ? iterate_cycle(p, c)
            : timed ? iterate_timed(p, c, start, progress, &n)
                    : iterate_single(p, n, progress));
  if (progress->on) ambit__progress_show(progress, p, false);
  if (!timed) return AMBIT_OK;
  AMBIT_TRY(ambit__run_or_stop(p, ambit__engines_wait(p->grid->context)));
  took[0] = (ambit__clock() - start) / n;
  AMBIT_TRY(ambit__net_max(p->grid->context->net, took, 2)); /* all come to the same result */
  note(p, c, took[0], took[0] * n, took[1] > 0);
  return AMBIT_OK;
}

/* ---- shorter cycles ---- */

/* Whether a cycle of one iteration differs from that iteration: its steps are computed in one pass
 * over the cells. */
static bool has_stages(const ambit_program *p)
{
  size_t n = 0;

  for (size_t i = 0; i < p->nsteps; i++)
    n += p->steps[i].kind == STEP_APPLY;
  return n > 1 && p->cycle->wavefront;
}

/* Whether to make a cycle for so many iterations that are left over. */
static bool is_due(ambit_program *p, int64_t n)
{
  ambit__cycle *c = p->cycle;
  int made = 0;

  for (const ambit__cycle *i = c->shorter; i; i = i->shorter)
    made++;
  if (n < 1 || (n == 1 && !has_stages(p)) || made >= MOST_SHORTER || (!c->fused && !c->wavefront))
    return false;
  if (c->wavefront || ambit__cycle_is_asked(p)) return true;
  c->lost += (double)n * c->fused->saved;
  return c->lost >= c->fused->built;
}

/* The cycle that begins `left` iterations; NULL: none. */
static ambit_status find_cycle(ambit_program *p, int64_t left, ambit__cycle **found)
{
  const int64_t calm = ambit__program_calm(p);
  const int64_t n = calm < left - p->cycle->tail ? calm : left - p->cycle->tail;
  ambit__cycle *c = p->cycle;

  *found = c;
  if (ambit__cycle_is_elastic(c) && n > 1)
    c->schedule.iterations = n < c->fused->plan.depth ? (int)n : c->fused->plan.depth;
  if (n >= c->schedule.iterations) return AMBIT_OK;
  *found = NULL;
  if (!is_preferred(p, c)) return AMBIT_OK;
  do
    c = c->shorter;
  while (c && c->schedule.iterations != n);
  if (!c && is_due(p, n)) {
    AMBIT_TRY(ambit__run_or_stop(p, ambit__cycle_add_shorter(p, (int)n)));
    c = p->cycle->shorter;
  }
  if (c && c->schedule.n) *found = c;
  return AMBIT_OK;
}

/* ---- many ---- */

/* How far a run has come. */
typedef struct course {
  const ambit__cycle *ready; /* the cycle that was made ready last */
  bool singly;               /* the iterations that are left run one by one */
} course;

/* The cycle for the next of `left` iterations; NULL: single ones. */
static ambit_status next_cycle(ambit_program *p, int64_t left, course *at, ambit__cycle **c)
{
  bool can = true;

  *c = NULL;
  if (!p->cycle || at->singly || !ambit__sleep_pause(p)) return AMBIT_OK;
  AMBIT_TRY(find_cycle(p, left, c));
  if (*c && (*c)->fused && *c != at->ready)
    AMBIT_TRY(ambit__run_or_stop(p, ambit__fuse_ready(p, (*c)->fused, &can)));
  if (!can) *c = NULL;
  if (*c && (*c)->fused && *c != at->ready)
    AMBIT_TRY(ambit__run_or_stop(p, ambit__fuse_prepare(p, *c)));
  if (*c) at->ready = *c;
  at->singly = !*c && ambit__program_calm(p) >= left - p->cycle->tail;
  return AMBIT_OK;
}

/* The iterations of the program itself. */
static ambit_status iterate_all(ambit_program *p, int64_t n, ambit__progress *progress)
{
  const int64_t end = p->iteration + n;
  course at = {0};

  while (p->iteration < end) {
    ambit__cycle *c;
    bool cycle;

    AMBIT_TRY(next_cycle(p, end - p->iteration, &at, &c));
    cycle = c && is_preferred(p, c);
    if (!cycle && p->after_cycle) AMBIT_TRY(ambit__run_or_stop(p, ambit__program_ready(p)));
    p->after_cycle = cycle;
    AMBIT_TRY(c ? iterate_round(p, c, cycle, progress) : iterate_single(p, 1, progress));
    if (ambit__run_stops(p)) break;
  }
  if (!p->after_cycle) ambit__program_rest(p);
  return ambit__run_or_stop(p, ambit__fuse_note(p));
}

ambit_status ambit__program_iterate_many(ambit_program *p, int64_t n, ambit__progress *progress)
{
  const int64_t lean = n > 1 && ambit__lean_is_open(p) ? n - 1 : 0;

  if (lean) AMBIT_TRY(ambit__lean_iterate(p, lean, progress, iterate_all));
  return iterate_all(p, n - lean, progress);
}
