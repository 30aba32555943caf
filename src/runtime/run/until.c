/* SPDX-License-Identifier: BSD-3-Clause */
/* until.c - running until a scalar meets a condition.
 *
 * Where work is done at once, the host looks at the scalar; and where several devices or processes work, whose
 * scalars meet on the host in each iteration. One device that works behind the host's back looks
 * itself, and its launches change nothing once the run has ended (watch, in device.h): the host goes on
 * handing out iterations, hears of the end later, and takes back those behind it. One iteration is the
 * answer in both cases, the first whose check ended the run; and one function judges the value found there.
 */
#include "runtime/run/run.h"

#include <math.h>

/* Iterations from one report to the next, at least: while the host waits for the oldest one, that many or more are
 * in the queue, and a report costs little against them. */
enum { REPORT_EVERY = 8 };

/* Iterations under way. */
typedef struct chase {
  ambit_program *p;
  ambit__until *until;
  int64_t asked;          /* the iteration behind which the last report is */
  bool news;              /* a check was made since */
  int reports;            /* under way */
  ambit__verdict verdict; /* of the last one that came */
} chase;

/* Of the only device, where it looks itself. */
static ambit__queue *queue(const ambit_program *p)
{
  return p->grid->context->engines[0].queue;
}

static ambit_status judge(ambit_program *p, const ambit__until *u, double x)
{
  AMBIT_CHECK(isfinite(x), ambit__program_errors(p), AMBIT_EPROGRAM,
              "after iteration %lld the scalar '%s' is %g, which can never meet the condition: the "
              "fields hold "
              "values that are not finite, or no cell was updated",
              (long long)p->iteration, u->scalar->name, x);
  p->converged = u->when == AMBIT_BELOW   ? x < u->bound
                 : u->when == AMBIT_ABOVE ? x > u->bound
                                          : x == u->bound;
  return AMBIT_OK;
}

static ambit_status rest(ambit_program *p)
{
  AMBIT_TRY(ambit__engines_wait(p->grid->context));
  ambit__program_rest(p);
  return AMBIT_OK;
}

/* ---- the host looks ---- */

static ambit_status check_here(chase *c)
{
  double x = ambit_scalar_get(c->until->scalar);

  AMBIT_TRY(ambit__program_errors(c->p)->status);
  return judge(c->p, c->until, x);
}

/* ---- the device looks ---- */

static ambit_status report(chase *c)
{
  AMBIT_TRY(queue(c->p)->device->backend->report(queue(c->p)));
  c->asked = c->p->iteration;
  c->news = false;
  c->reports++;
  return AMBIT_OK;
}

/* Takes reports as long as there are some here; waits for one if it must. */
static ambit_status listen(chase *c, bool wait)
{
  do {
    AMBIT_TRY(queue(c->p)->device->backend->verdict(queue(c->p), wait, &c->verdict));
    if (!c->verdict.known) return AMBIT_OK;
    c->reports--;
    wait = false;
  } while (c->reports && !c->verdict.ended);
  return AMBIT_OK;
}

static ambit_status check_there(chase *c)
{
  AMBIT_TRY(queue(c->p)->device->backend->check(queue(c->p), c->p->iteration));
  c->news = true;
  if (c->p->iteration - c->asked < REPORT_EVERY) return AMBIT_OK;
  AMBIT_TRY(report(c));
  return listen(c, c->reports == AMBIT__REPORTS);
}

/* Hears of all checks, and goes back to the iteration that ended the run, if one did. */
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

static ambit_status iterate(chase *c, bool there, int64_t n, bool last, ambit__progress *progress)
{
  ambit *a = c->p->grid->context;

  for (int64_t i = 1; i <= n && !c->p->converged && !c->verdict.ended; i++) {
    double start;

    AMBIT_TRY(ambit__run_or_stop(c->p, ambit__program_iterate(c->p)));
    if (progress->on) ambit__progress_show(progress, c->p, false);
    if (++c->until->unchecked < c->p->check_every && !(last && i == n)) continue;
    c->until->unchecked = 0;
    start = ambit__trace_clock(a->trace);
    AMBIT_TRY(ambit__run_or_stop(c->p, there ? check_there(c) : check_here(c)));
    ambit__trace_add(a->trace, NOTE_CHECK, start);
  }
  return there ? settle(c) : ambit__run_or_stop(c->p, rest(c->p));
}

/* Whether all kernels leave at once when the device has found that the run has ended. */
static bool all_heed(const ambit_program *p)
{
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->applies[i].functions && p->applies[i].functions[0]->heedless) return false;
  return true;
}

ambit_status ambit__program_iterate_until(ambit_program *p, ambit__until *u, int64_t n, bool last,
                                          ambit__progress *progress)
{
  const ambit__watch watch = {
      .value = u->scalar->values[0], .type = u->scalar->type, .when = u->when, .bound = u->bound};
  const ambit *a = p->grid->context;
  const ambit__backend *backend = queue(p)->device->backend;
  chase c = {.p = p, .until = u, .asked = p->iteration};
  bool there = false;
  ambit_status s;

  if (backend->watch && a->nengines == 1 && a->net->size == 1 && all_heed(p))
    AMBIT_TRY(backend->watch(queue(p), &watch, &there));
  p->watched = there;
  s = iterate(&c, there, n, last, progress);
  p->watched = false;
  if (there) backend->unwatch(queue(p));
  return s;
}
