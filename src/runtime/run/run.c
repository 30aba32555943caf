/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c - runs programs: iterations, with checks, callbacks and progress lines between them. */
#include "runtime/run/run.h"
#include "base/integers.h"
#include "base/log.h"
#include "base/memory.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/program/cycle.h"
#include "runtime/program/lean.h"
#include "runtime/run/balance.h"
#include "runtime/run/still.h"
#include "runtime/sleep/sleep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

ambit_status ambit__run_or_stop(ambit_program *p, ambit_status s)
{
  return s ? ambit__net_stop(p->grid->context->net) : AMBIT_OK;
}

/* Checks that all processes are about to run the same. */
static ambit_status meet(const ambit_program *p, int64_t most, const ambit__until *until)
{
  static const char *const signs[] = {"below", "above", "equal to", "at most", "at least"};
  char doing[120];
  int n = snprintf(doing, sizeof doing, "runs %" PRId64 " iterations", most);

  if (!p->unseal) n += snprintf(doing + n, sizeof doing - (size_t)n, " of a new program");
  if (p->relaxes) n += snprintf(doing + n, sizeof doing - (size_t)n, " that relax");
  if (p->every)
    n += snprintf(doing + n, sizeof doing - (size_t)n, ", calls back every %" PRId64, p->every);
  if (until && !until->scalar)
    snprintf(doing + n, sizeof doing - (size_t)n, ", every %" PRId64 " until still",
             p->check_every);
  else if (until)
    snprintf(doing + n, sizeof doing - (size_t)n, ", every %" PRId64 " until %.9s is %s %g",
             p->check_every, until->scalar->name, signs[until->when], until->bound);
  return ambit__meet(p->grid->context, doing);
}

/* Opens the trace if the option asks for one and none is open. Collective. */
static ambit_status open_trace(const ambit_grid *g)
{
  ambit *a = g->context;
  ambit__trace_scene scene = {.errors = &a->errors,
                              .net = a->net,
                              .path = a->settings.trace,
                              .ndevices = a->nengines,
                              .nparts = g->nparts,
                              .first = g->first,
                              .nown = a->placement.n,
                              .device_of_own = a->placement.engine};
  ambit__trace_device *devices;
  ambit_status s;

  if (a->trace || !*a->settings.trace) return AMBIT_OK;
  devices = ambit__new(&a->errors, (size_t)a->nengines, sizeof *devices);
  for (int i = 0; devices && i < a->nengines; i++) {
    const ambit__engine *e = &a->engines[i];

    devices[i] = (ambit__trace_device){e->backend->name, e->ordinal, e->device, e->queue};
  }
  scene.devices = devices;
  s = ambit__trace_open(&scene, &a->trace);
  free(devices);
  return s;
}

static ambit_status prepare(ambit_program *p, int64_t iterations)
{
  const bool was_sealed = p->unseal != NULL;

  AMBIT_CHECK(iterations >= 0, ambit__program_errors(p), AMBIT_EINVAL,
              "%lld iterations were requested; the number must be 0 or more",
              (long long)iterations);
  AMBIT_TRY(ambit__program_seal(p));
  if (!p->grid->context->net->rank && !was_sealed && iterations > 1 && !p->every &&
      !ambit__program_feeds_back(p))
    ambit__log(&p->grid->context->settings, 0,
               "no step of the program reads the output of a step, so all %lld iterations compute "
               "the same; is an ambit_swap missing?",
               (long long)iterations);
  AMBIT_TRY(open_trace(p->grid));
  AMBIT_TRY(ambit__lean_prepare(p, iterations));
  AMBIT_TRY(ambit__balance_make(p));
  AMBIT_TRY(ambit__run_or_stop(p, ambit__program_copy_initial(p)));
  AMBIT_TRY(ambit__run_or_stop(p, ambit__lean_open(p)));
  return ambit__run_or_stop(p, ambit__program_ready(p));
}

static void count(ambit_program *p, int64_t iterations, double seconds)
{
  p->stats.iterations += iterations;
  p->stats.seconds += seconds;
  for (size_t i = 0; i < p->nsteps; i++) {
    const int64_t every = p->steps[i].every;
    const int64_t runs = p->iteration / every - (p->iteration - iterations) / every;
    const double n = (double)runs;

    p->stats.cells += p->applies[i].cells * n;
    p->stats.bytes += p->applies[i].bytes * n;
    p->stats.flops += p->applies[i].flops * n;
  }
}

/* Engines that have no part of the grid did not get the scalars that steps wrote. */
static ambit_status share_scalars(const ambit_program *p)
{
  if (p->grid->context->nengines == 1 || !ambit__grid_on_first(p->grid)) return AMBIT_OK;
  for (size_t i = 0; i < p->nsteps; i++)
    for (int k = 0; k < p->steps[i].n; k++)
      if (p->steps[i].args[k].scalar) AMBIT_TRY(ambit__scalar_share(p->steps[i].args[k].scalar));
  return AMBIT_OK;
}

/* Some process has no cells. */
static bool some_are_idle(const ambit_grid *g)
{
  for (int r = 0; r < g->context->net->size; r++) {
    bool idle = true;

    for (int i = g->placement.first[r]; i < g->placement.first[r + 1]; i++)
      idle &= ambit__box_is_empty(&g->parts[i]);
    if (idle) return true;
  }
  return false;
}

/* A process without cells gets no messages that make it wait for others: the longest time counts.
 */
static ambit_status agree_on_time(const ambit_program *p, double *seconds)
{
  if (p->is_called || p->grid->context->net->size == 1 || !some_are_idle(p->grid)) return AMBIT_OK;
  return ambit__net_max(p->grid->context->net, seconds, 1);
}

/* The iterations to the next callback or look of an observer, or to the end of the run, `left` of
 * them away. */
static int64_t unobserved(const ambit_program *p, int64_t left)
{
  int64_t n = p->every ? ambit__min64(p->every - p->iteration % p->every, left) : left;

  for (ambit__observer *o = p->observers; o; o = o->next)
    if (!o->left)
      n = ambit__min64(n, o->every - p->iteration % o->every);
    else if (!p->is_called)
      n = ambit__min64(n, o->left(o, p));
  return n;
}

/* Runs to the next callback, to iteration `mark`, or to the end of the run, `left` iterations
 * away. */
static ambit_status stretch(ambit_program *p, int64_t left, int64_t mark, ambit__until *until,
                            ambit__progress *progress)
{
  const int64_t first = p->iteration;
  const double start = ambit__clock();
  int64_t n = unobserved(p, left);
  double seconds;
  ambit_status s;

  if (mark > first && mark - first < n) n = mark - first;
  if (ambit__balance_left(p) < n) n = ambit__balance_left(p);
  if (ambit__checkpoint_left(p) < n) n = ambit__checkpoint_left(p);
  AMBIT_TRY(ambit__run_or_stop(p, ambit__records_ready(p, &n)));
  ambit__balance_start(p);
  p->may_stop = !p->is_called && p->grid->context->net->size == 1;
  if (until)
    s = ambit__program_iterate_until(p, until, n, left, progress);
  else
    s = ambit__program_iterate_many(p, n, progress);
  if (!s && !until && !p->is_called)
    s = ambit__run_or_stop(p, ambit__engines_wait(p->grid->context));
  p->may_stop = false;
  seconds = ambit__clock() - start;
  if (!s) s = agree_on_time(p, &seconds);
  count(p, p->iteration - first, seconds);
  ambit__balance_stop(p, p->iteration - first, seconds);
  return s ? s : share_scalars(p);
}

/* Lets observers look that are due and have not seen this iteration. */
static ambit_status show(ambit_program *p)
{
  for (ambit__observer *o = p->observers; o; o = o->next) {
    const double start = ambit__clock();

    if (o->left ? p->is_called
                : p->iteration % o->every || (o->has_looked && o->seen == p->iteration))
      continue;
    o->has_looked = true;
    o->seen = p->iteration;
    AMBIT_TRY(o->look(o, p));
    if (!o->left) p->observed += ambit__clock() - start;
  }
  return AMBIT_OK;
}

/* At the end of a run, outputs that have begun are complete. */
static ambit_status settle(ambit_program *p)
{
  const double start = ambit__clock();

  for (ambit__observer *o = p->observers; o; o = o->next)
    if (o->settle) AMBIT_TRY(o->settle(o));
  if (p->observers) p->observed += ambit__clock() - start;
  return AMBIT_OK;
}

int64_t ambit__program_whole(const ambit_program *p, int64_t n)
{
  const ambit_program *runs = ambit__lean_is_open(p) ? p->lean->program : p;
  const ambit__cycle *c = runs->cycle;
  int64_t single = c ? c->tail : 0; /* iterations that run one by one at the end */

  if (!c || ambit__cycle_is_elastic(c) || c->schedule.iterations < 2) return n;
  single += runs != p;
  return single +
         ((n > single ? n - single - 1 : 0) / c->schedule.iterations + 1) * c->schedule.iterations;
}

/* Calls the callback. All processes stop if one of them asks for it. */
static ambit_status ask(ambit_program *p, bool *stopped)
{
  ambit *a = p->grid->context;
  const double start = ambit__trace_clock(a->trace);
  bool stops;

  ambit__program_note_changes(p); /* for programs that the callback runs */
  stops = p->callback(p, p->iteration, p->callback_user) != 0 || atomic_load(&a->stops);
  ambit__trace_add(a->trace, NOTE_CALLBACK, start);
  AMBIT_TRY(ambit__meet(a, p->unseal ? "returns from its callback"
                                     : "changed its program in its callback"));
  AMBIT_TRY(ambit__net_any(a->net, &stops, 1));
  *stopped |= stops;
  return AMBIT_OK;
}

/* Calls the callback if it is due, and applies changes that the user made in it. */
static ambit_status call_back(ambit_program *p, bool *stopped)
{
  if (!p->every || p->iteration % p->every) return AMBIT_OK;
  AMBIT_TRY(ask(p, stopped));
  AMBIT_TRY(ambit__program_seal(p));
  AMBIT_TRY(ambit__run_or_stop(p, ambit__program_copy_initial(p)));
  AMBIT_TRY(ambit__run_or_stop(p, ambit__lean_open(p)));
  return ambit__run_or_stop(p, ambit__program_ready(p));
}

/* Tries other plans at iteration *mark, or as soon as there is room for it. */
static ambit_status try_plans(ambit_program *p, int64_t left, int64_t *mark,
                              ambit__progress *progress)
{
  const int64_t first = p->iteration;
  const double start = ambit__clock();
  int64_t n = unobserved(p, left);

  if (first < *mark || !ambit__trial_fits(p, n)) return AMBIT_OK;
  AMBIT_TRY(ambit__run_or_stop(p, ambit__records_ready(p, &n)));
  if (!ambit__trial_fits(p, n)) return AMBIT_OK;
  *mark = INT64_MAX;
  AMBIT_TRY(ambit__program_try(p, progress));
  count(p, p->iteration - first, ambit__clock() - start);
  return AMBIT_OK;
}

static ambit_status check_awaited(const ambit_program *p, const ambit__until *until)
{
  AMBIT_CHECK(!until || !until->scalar || ambit__program_sets(p, until->scalar),
              ambit__program_errors(p), AMBIT_EPROGRAM,
              "the program is to run until the scalar '%s' meets a condition, but no step sets it: "
              "reduce into it, or set it in a kernel on scalars or in a callback",
              until->scalar->name);
  return AMBIT_OK;
}

/* Saves a checkpoint if it is time, after iterations since `first` that began at `start`. */
static ambit_status look(ambit_program *p, int64_t first, double start, const ambit__until *until,
                         bool ended)
{
  ambit__standing at = {.ended = ended, .found = -1};

  if (!ambit__checkpoint_is_due(p)) return AMBIT_OK;
  if (until) at.unchecked = until->unchecked;
  if (until && until->still) at.found = ambit__still_found(until->still);
  return ambit__checkpoint_look(p, p->iteration - first, ambit__clock() - start, &at);
}

/* Moves the cut if devices should have other shares. */
static ambit_status balance(ambit_program *p, int64_t left, const ambit__until *until)
{
  const uint64_t seals = p->seals;

  AMBIT_TRY(ambit__balance_act(p, left));
  if (!until || !until->still || p->seals == seals) return AMBIT_OK;
  return ambit__run_or_stop(p, ambit__still_recut(until->still, seals));
}

/* ambit_stop has ended the iterations of the only process. */
static bool has_stopped(const ambit_program *p)
{
  ambit *a = p->grid->context;

  return !p->is_called && a->net->size == 1 && atomic_load(&a->stops);
}

/* Runs the iterations of a prepared run. */
static ambit_status iterate(ambit_program *p, int64_t most, ambit__until *until,
                            ambit__progress *progress)
{
  const int64_t first = p->iteration;
  int64_t left, mark;
  bool stopped = false;

  p->converged = false;
  AMBIT_TRY(ambit__run_or_stop(p, check_awaited(p, until)));
  AMBIT_TRY(show(p));
  left = most;
  mark = until || p->is_called ? INT64_MAX : ambit__trial_begin_at(p, left);
  while (left > 0 && !stopped) {
    const int64_t before = p->iteration;
    const double start = ambit__clock();

    AMBIT_TRY(try_plans(p, left, &mark, progress));
    left = most - (p->iteration - first);
    AMBIT_TRY(stretch(p, left, mark, until, progress));
    left = most - (p->iteration - first);
    stopped = p->converged || has_stopped(p);
    AMBIT_TRY(show(p));
    AMBIT_TRY(call_back(p, &stopped));
    AMBIT_TRY(balance(p, stopped ? 0 : left, until));
    AMBIT_TRY(look(p, before, start, until, stopped));
  }
  return settle(p);
}

/* `at`: how far the run was before it was interrupted. */
static ambit_status run_all(ambit_program *p, int64_t most, ambit__until *until,
                            const ambit__standing *at)
{
  ambit__progress progress;

  AMBIT_TRY(meet(p, most, until));
  if (!until && !p->unseal && !p->broken)
    ambit__machine_prepare(p, most); /* a maximum is not a forecast */
  AMBIT_TRY(prepare(p, most));
  if (until && !until->scalar)
    AMBIT_TRY(ambit__run_or_stop(p, ambit__still_open(p, &until->still)));
  if (until) until->unchecked = at->unchecked;
  if (until && until->still && at->found >= 0)
    AMBIT_TRY(ambit__run_or_stop(p, ambit__still_resume(until->still, at->found)));
  p->goal = until ? 0 : p->iteration + most;
  AMBIT_TRY(ambit__view_attach(p));
  progress = ambit__progress_start(p, until ? 0 : most);
  AMBIT_TRY(iterate(p, most, until, &progress));
  ambit__progress_show(&progress, p, true);
  if (!p->is_called) ambit__machine_prepare(p, 0);
  return AMBIT_OK;
}

void ambit__program_note_changes(ambit_program *p)
{
  for (int f = 0; f < p->nfields; f++) {
    const bool known = p->sleep && p->sleep->steps && p->sleep->changes[f] == p->fields[f]->changes;

    p->fields[f]->changes++;
    if (p->fields[f]->base) p->fields[f]->base->changes++;
    if (known) p->sleep->changes[f]++;
  }
}

/* A program that the user ran, perhaps in a callback of another one, has set its fields. */
static void note_sets(const ambit_program *p)
{
  for (int f = 0; f < p->nfields; f++) {
    p->fields[f]->sets++;
    if (p->fields[f]->base) p->fields[f]->base->sets++;
  }
}

static void enter(ambit_program *p, const ambit__until *until)
{
  p->is_running = true;
  p->awaited = until ? until->scalar : NULL;
}

/* After a run that ended with this status. */
static ambit_status leave(ambit_program *p, ambit_status s)
{
  ambit__program_note_changes(p);
  if (!p->is_called) note_sets(p);
  p->is_running = p->is_called = false;
  p->awaited = NULL;
  if (p->is_outdated) ambit__program_unseal(p);
  p->is_outdated = false;
  if (s && p->grid->context->net && p->grid->context->net->size > 1) ambit__program_give_up(p);
  return s;
}

static ambit_status run(ambit_program *p, int64_t most, ambit__until *until)
{
  ambit__standing at;
  ambit_status s;
  bool skip;

  AMBIT_CHECK(!p->is_running, ambit__program_errors(p), AMBIT_EPROGRAM,
              "a callback runs the program that called it; it can run other programs");
  if (!p->grid->context->runs++) atomic_store(&p->grid->context->stops, false);
  s = ambit__checkpoint_enter(p, most, &at, &skip);
  if (!s && !skip) {
    enter(p, until);
    s = leave(p, run_all(p, at.done < most ? most - at.done : most < 0 ? most : 0, until, &at));
  }
  ambit__checkpoint_leave(p, skip, s);
  p->grid->context->runs--;
  return s;
}

void ambit_stop(ambit *a)
{
  if (a) atomic_store(&a->stops, true);
}

ambit_status ambit__program_run_called(ambit_program *p, int64_t most, ambit__until *until)
{
  ambit__progress silent = {.on = false};
  ambit_status s;

  AMBIT_CHECK(!p->is_running, ambit__program_errors(p), AMBIT_EPROGRAM,
              "a callback runs a program that calls the one of the callback");
  enter(p, until);
  p->is_called = true;
  s = ambit__run_or_stop(p, ambit__program_copy_initial(p));
  if (!s) s = ambit__run_or_stop(p, ambit__program_ready(p));
  return leave(p, s ? s : iterate(p, most, until, &silent));
}

ambit_status ambit_run(ambit_program *p, int64_t iterations)
{
  return p ? run(p, iterations, NULL) : AMBIT_EINVAL;
}

ambit_status ambit_run_to(ambit_program *p, int64_t iterations)
{
  if (!p) return AMBIT_EINVAL;
  return run(p,
             iterations > p->iteration ? iterations - p->iteration
             : iterations < 0          ? iterations
                                       : 0,
             NULL);
}

static ambit_status check_until(const ambit_program *p, const ambit__until *u)
{
  if (ambit__failed(p->grid->context)) return ambit__program_errors(p)->status;
  return ambit__until_check(p->grid->context, u->scalar, u->when, u->bound, "ambit_run_until");
}

ambit_status ambit_run_until_still(ambit_program *p, int64_t most)
{
  ambit__until until = {0};
  ambit_status s;

  if (!p) return AMBIT_EINVAL;
  p->awaits_rest = true;
  s = run(p, most, &until);
  p->awaits_rest = false;
  ambit__still_close(until.still);
  return s;
}

ambit_status ambit_run_until(ambit_program *p, ambit_scalar *s, ambit_condition when, double value,
                             int64_t most)
{
  ambit__until until = {.scalar = s, .when = when, .bound = value};

  if (!p) return AMBIT_EINVAL;
  if (check_until(p, &until)) return ambit__meet(p->grid->context, "fails");
  return run(p, most, &until);
}
