/* SPDX-License-Identifier: BSD-3-Clause */
/* until.c - runs until a scalar meets a condition.
 *
 * The host checks the scalar if the device is synchronous, or if there are several devices or
 * processes, whose values are combined on the host in each iteration. A single asynchronous device
 * checks the scalar itself, and its launches have no effect once the run has ended (watch, in
 * device.h). The host meanwhile submits further iterations, learns of the end later, and undoes the
 * iterations after it. Both ways stop at the same iteration, the first one whose check ended the
 * run, and one function judges its value. Without a scalar, the run ends when nothing changes
 * (still.h).
 */
#include "runtime/program/cycle.h"
#include "runtime/run/run.h"
#include "runtime/run/still.h"
#include "runtime/sleep/sleep.h"

#include <math.h>

/* Iterations between two reports, at least. While the host waits for the oldest report, at least
 * this many iterations are queued, and a report costs little compared with them. */
enum { REPORT_EVERY = 8 };

enum { RARE = 2 }; /* cycles between two checks */

/* A run in progress. */
typedef struct chase {
  ambit_program *p;
  ambit__until *until;
  int64_t asked;          /* iteration of the last report */
  bool news;              /* there was a check since */
  int reports;            /* pending reports */
  ambit__verdict verdict; /* of the latest report */
} chase;

/* The queue of the only device, if it checks the scalar itself. */
static ambit__queue *queue(const ambit_program *p)
{
  return p->grid->context->engines[0].queue;
}

static ambit_status judge(ambit_program *p, const ambit__until *u, double x)
{
  /* all NaN are equal, but %g prints their sign */
  AMBIT_CHECK(isfinite(x), ambit__program_errors(p), AMBIT_EPROGRAM,
              "after iteration %lld the scalar '%s' is %g, which can never meet the condition: the "
              "fields hold values that are not finite, or no cell was updated",
              (long long)p->iteration, u->scalar->name, isnan(x) ? fabs(x) : x);
  p->converged = u->when == AMBIT_BELOW      ? x < u->bound
                 : u->when == AMBIT_ABOVE    ? x > u->bound
                 : u->when == AMBIT_AT_MOST  ? x <= u->bound
                 : u->when == AMBIT_AT_LEAST ? x >= u->bound
                                             : x == u->bound;
  return AMBIT_OK;
}

static ambit_status rest(ambit_program *p)
{
  AMBIT_TRY(ambit__engines_wait(p->grid->context));
  ambit__program_rest(p);
  return AMBIT_OK;
}

/* ---- checks by the host ---- */

static ambit_status check_here(chase *c)
{
  double x;

  if (!c->until->scalar) return ambit__still_check(c->until->still, true, &c->p->converged);
  x = ambit_scalar_get(c->until->scalar);
  AMBIT_TRY(ambit__program_errors(c->p)->status);
  if (isfinite(x)) return judge(c->p, c->until, x);
  AMBIT_TRY(rest(c->p)); /* all processes have this value: none is stopped within an iteration */
  judge(c->p, c->until, x);
  return ambit__net_agree(c->p->grid->context->net);
}

/* Iterations that must be looked at before one that is checked. */
static int64_t needs(const chase *c)
{
  return c->until->scalar ? 0 : ambit__still_needs(c->until->still);
}

/* After an iteration that is not checked, `left` before one that is. */
static ambit_status look_here(chase *c, int64_t left)
{
  bool still;

  if (c->until->scalar) return AMBIT_OK;
  if (left <= needs(c)) return ambit__still_check(c->until->still, false, &still);
  ambit__still_skip(c->until->still);
  return AMBIT_OK;
}

/* ---- checks by the device ---- */

static ambit_status report(chase *c)
{
  AMBIT_TRY(ambit__do(queue(c->p), report, NULL, false));
  c->asked = c->p->iteration;
  c->news = false;
  c->reports++;
  return AMBIT_OK;
}

/* Takes all finished reports; waits for one if `wait`. */
static ambit_status listen(chase *c, bool wait)
{
  do {
    AMBIT_TRY(ambit__do(queue(c->p), report, &c->verdict, wait));
    if (!c->verdict.known) return AMBIT_OK;
    c->reports--;
    wait = false;
  } while (c->reports && !c->verdict.ended);
  return AMBIT_OK;
}

static ambit_status check_there(chase *c)
{
  AMBIT_TRY(ambit__do(queue(c->p), check, c->p->iteration));
  c->news = true;
  if (c->p->iteration - c->asked < REPORT_EVERY) return AMBIT_OK;
  AMBIT_TRY(report(c));
  return listen(c, c->reports == AMBIT__REPORTS);
}

/* Takes all reports, and returns to the iteration that ended the run, if any. */
static ambit_status settle(chase *c)
{
  const ambit_type type = c->until->scalar->type;

  if (c->news && !c->verdict.ended) AMBIT_TRY(report(c));
  while (c->reports && !c->verdict.ended)
    AMBIT_TRY(listen(c, true));
  AMBIT_TRY(rest(c->p));
  if (!c->verdict.ended) return AMBIT_OK;
  ambit__program_go_back(c->p, c->verdict.ended);
  return judge(c->p, c->until,
               ambit__value_number(ambit__value_load(c->verdict.value, type), type));
}

/* ---- both ---- */

/* Iterations up to the next one that is checked, `left` away from the end of the run. */
static int64_t before_check(const chase *c, int64_t left)
{
  const int64_t n = c->p->check_every - c->until->unchecked;

  return n < left ? n : left;
}

/* Runs iterations before the next one that is checked or the last of n, if they make a cycle;
 * the run ends after `left`. Returns their number. */
static ambit_status skip(chase *c, int64_t n, int64_t left, ambit__progress *progress,
                         int64_t *done)
{
  ambit_program *p = c->p;
  const int64_t first = p->iteration, most = before_check(c, left) - 1 - needs(c);

  *done = 0;
  if (--n > most) n = most;
  if (!p->cycle || n < ambit__cycle_least(p->cycle)) return AMBIT_OK;
  AMBIT_TRY(ambit__program_iterate_many(p, n, progress));
  if (!c->until->scalar) ambit__still_skip(c->until->still);
  *done = p->iteration - first;
  c->until->unchecked += *done;
  return ambit__run_or_stop(p, ambit__program_ready(p));
}

static ambit_status iterate(chase *c, bool there, int64_t n, int64_t left,
                            ambit__progress *progress)
{
  ambit *a = c->p->grid->context;

  for (int64_t i = 1; i <= n && !c->p->converged && !c->verdict.ended; i++) {
    int64_t done = 0, wait; /* iterations before the one that is checked */
    double start;

    if (!there) AMBIT_TRY(skip(c, n - i + 1, left - i + 1, progress, &done));
    if (done && ambit__run_stops(c->p)) break;
    i += done;
    AMBIT_TRY(ambit__run_or_stop(c->p, ambit__program_iterate(c->p)));
    if (progress->on) ambit__progress_show(progress, c->p, false);
    c->until->unchecked++;
    wait = before_check(c, left - i);
    if (wait > 0) {
      AMBIT_TRY(ambit__run_or_stop(c->p, look_here(c, wait)));
      if (ambit__run_stops(c->p)) break;
      continue;
    }
    c->until->unchecked = 0;
    start = ambit__trace_clock(a->trace);
    AMBIT_TRY(ambit__run_or_stop(c->p, there ? check_there(c) : check_here(c)));
    ambit__trace_add(a->trace, NOTE_CHECK, start);
    if (ambit__run_stops(c->p)) break;
  }
  return there ? settle(c) : ambit__run_or_stop(c->p, rest(c->p));
}

/* Whether checks are so far apart that a cycle between them is worth waiting for each. */
static bool is_rare(const ambit_program *p)
{
  return p->cycle && p->check_every > RARE * ambit__cycle_least(p->cycle);
}

/* Whether all kernels return at once when the device has found that the run has ended. Copies of
 * boxes and functions of the user do not. */
static bool all_heed(const ambit_program *p)
{
  if (ambit__program_calls(p)) return false;
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_COPY || ambit__chore_is_host(p->steps[i].chore) ||
        p->applies[i].folding || p->applies[i].sweeping ||
        (p->applies[i].functions && p->applies[i].functions[0]->ignores_stop))
      return false;
  return true;
}

ambit_status ambit__program_iterate_until(ambit_program *p, ambit__until *u, int64_t n,
                                          int64_t left, ambit__progress *progress)
{
  ambit__watch watch = {.when = u->when, .bound = u->bound};
  const ambit__backend *backend = queue(p)->device->backend;
  chase c = {.p = p, .until = u, .asked = p->iteration};
  bool there = false;
  ambit_status s;

  if (u->scalar && ambit__can(backend, watch) && ambit__grid_on_first(p->grid) && all_heed(p) &&
      !is_rare(p) && !ambit__sleep_is_forced(p)) {
    watch.value = u->scalar->values[0];
    watch.type = u->scalar->type;
    AMBIT_TRY(ambit__do(queue(p), watch, &watch, &there));
  }
  p->watched = there;
  s = iterate(&c, there, n, left, progress);
  p->watched = false;
  if (there) ambit__do(queue(p), watch, NULL, NULL);
  return s;
}
