/* run.c - running a program: many iterations, with checks, callbacks and progress between them. */
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "runtime/runtime.h"

#include <math.h>
#include <stdlib.h>

#define ERRORS(p) (&(p)->grid->context->errors)

/* In the middle of a run the other processes wait for messages of this one and cannot hear of its failure: the run is
 * ended, with the cause. */
static ambit_status or_end(ambit_program *p, ambit_status s)
{
  if (s) ambit__net_abort(p->grid->context->net, ambit_error_text(p->grid->context));
  return s;
}

static ambit_status prepare(ambit_program *p, int64_t iterations)
{
  bool was_sealed = p->sealed;

  AMBIT_CHECK(iterations >= 0, ERRORS(p), AMBIT_EINVAL,
              "a program was asked to run %lld iterations; it must be 0 or more",
              (long long)iterations);
  AMBIT_TRY(ambit__program_seal(p));
  if (!was_sealed && iterations > 1 && !p->every && !ambit__program_goes_anywhere(p))
    ambit__log(&p->grid->context->settings, 0,
               "no step of the program reads what another wrote, so all %lld iterations do the "
               "same; is an "
               "ambit_swap missing?",
               (long long)iterations);
  AMBIT_TRY(or_end(p, ambit__program_hand_out(p)));
  return or_end(p, ambit__program_ready(p));
}

typedef struct stop_rule {
  ambit_scalar *scalar; /* NULL: never */
  ambit_condition when;
  double value;
} stop_rule;

static ambit_status check_stop(ambit_program *p, const stop_rule *stop, bool *met)
{
  double x = ambit_scalar_get(stop->scalar);

  AMBIT_TRY(ERRORS(p)->status);
  AMBIT_CHECK(isfinite(x), ERRORS(p), AMBIT_EPROGRAM,
              "after iteration %lld the scalar '%s' is %g, which can never meet the condition: the "
              "fields hold "
              "values that are not finite, or no cell was updated",
              (long long)p->iteration, stop->scalar->name, x);
  *met = stop->when == AMBIT_BELOW   ? x < stop->value
         : stop->when == AMBIT_ABOVE ? x > stop->value
                                     : x == stop->value;
  return AMBIT_OK;
}

static void count(ambit_program *p, int64_t iterations, double seconds)
{
  p->stats.iterations += iterations;
  p->stats.seconds += seconds;
  for (size_t i = 0; i < p->nsteps; i++) {
    p->stats.cells += p->applies[i].cells * (double)iterations;
    p->stats.bytes += p->applies[i].bytes * (double)iterations;
    p->stats.flops += p->applies[i].flops * (double)iterations;
  }
}

/* Iterations until something but iterating has to be done. */
static int64_t until_next(const ambit_program *p, const stop_rule *stop, int64_t unchecked,
                          int64_t left)
{
  int64_t n = left;

  if (p->every && p->every - p->iteration % p->every < n) n = p->every - p->iteration % p->every;
  if (stop->scalar && p->check - unchecked < n) n = p->check - unchecked;
  return n;
}

/* n iterations, timed. */
static ambit_status iterate_many(ambit_program *p, int64_t n, ambit__progress *progress)
{
  double start = ambit__clock();

  for (int64_t i = 0; i < n; i++) {
    AMBIT_TRY(or_end(p, ambit__program_iterate(p)));
    if (progress->on) ambit__progress_show(progress, p, false);
  }
  AMBIT_TRY(or_end(p, ambit__engines_wait(p->grid->context)));
  ambit__program_rest(p);
  count(p, n, ambit__clock() - start);
  return AMBIT_OK;
}

/* Calls back. All processes stop if one of them wants to. */
static ambit_status ask(ambit_program *p, bool *stopped)
{
  ambit__net *net = p->grid->context->net;
  char mine = p->callback(p, p->iteration, p->callback_user) != 0;
  char *all = ambit__new(ERRORS(p), (size_t)net->size, 1);
  ambit_status s = all ? ambit__net_agree(net) : AMBIT_ENOMEM;

  if (!s) s = ambit__net_gather(net, &mine, 1, all);
  for (int i = 0; !s && i < net->size; i++)
    *stopped |= all[i];
  free(all);
  return s;
}

/* Calls back if it is time to, and takes up what the user changed meanwhile. */
static ambit_status call_back(ambit_program *p, bool *stopped)
{
  if (!p->every || p->iteration % p->every) return AMBIT_OK;
  AMBIT_TRY(ask(p, stopped));
  AMBIT_TRY(ambit__program_seal(p));
  AMBIT_TRY(or_end(p, ambit__program_hand_out(p)));
  return or_end(p, ambit__program_ready(p));
}

static ambit_status run(ambit_program *p, int64_t most, const stop_rule *stop)
{
  ambit__progress progress;
  int64_t left = most, unchecked = 0; /* iterations since the last check */
  bool stopped = false;

  AMBIT_TRY(prepare(p, most));
  progress = ambit__progress_start(p, most);
  p->converged = false;
  while (left > 0 && !stopped) {
    int64_t n = until_next(p, stop, unchecked, left);

    AMBIT_TRY(iterate_many(p, n, &progress));
    left -= n;
    unchecked += n;
    if (stop->scalar && (unchecked >= p->check || !left)) {
      AMBIT_TRY(check_stop(p, stop, &p->converged));
      stopped = p->converged;
      unchecked = 0;
    }
    AMBIT_TRY(call_back(p, &stopped));
  }
  ambit__progress_show(&progress, p, true);
  return AMBIT_OK;
}

ambit_status ambit_run(ambit_program *p, int64_t iterations)
{
  const stop_rule never = {0};

  if (!p || ambit__failed(p->grid->context)) return p ? ERRORS(p)->status : AMBIT_EINVAL;
  return run(p, iterations, &never);
}

ambit_status ambit_run_until(ambit_program *p, ambit_scalar *s, ambit_condition when, double value,
                             int64_t most)
{
  const stop_rule stop = {s, when, value};

  if (!p || ambit__failed(p->grid->context)) return p ? ERRORS(p)->status : AMBIT_EINVAL;
  AMBIT_CHECK(s && s->context == p->grid->context, ERRORS(p), AMBIT_EINVAL,
              "ambit_run_until: the scalar is NULL or belongs to another context");
  AMBIT_CHECK(when >= AMBIT_BELOW && when <= AMBIT_EQUAL, ERRORS(p), AMBIT_EINVAL,
              "ambit_run_until: %d is no condition", (int)when);
  return run(p, most, &stop);
}
