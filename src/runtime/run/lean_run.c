/* SPDX-License-Identifier: BSD-3-Clause */
/* lean_run.c - runs the lean form of a program in its place.
 *
 * With the option lean at auto, blocks of iterations of both forms are timed first, in turns, and
 * the faster one goes on. Both give the same results.
 */
#include "base/clock.h"
#include "base/log.h"
#include "runtime/program/lean.h"
#include "runtime/run/run.h"

#include <string.h>

enum { BLOCK = 32 };     /* iterations of a round, at most */
enum { LEAN, COMPLETE }; /* candidates of the trial */

static const ambit__trial_rules rules = {.rounds = AMBIT__LEAN_ROUNDS, .clearly = 1};

/* Bytes that a run must move: less than what a core moves while it compiles a kernel is not
 * worthwhile. */
static const double WORTHWHILE = 1e10;

static bool is_asked(const ambit_program *p)
{
  return !strcmp(p->grid->context->settings.lean, "on");
}

/* ---- before a run ---- */

static double bytes_of(const ambit_program *p)
{
  double bytes = 0;

  for (size_t i = 0; i < p->nsteps; i++)
    bytes += p->applies[i].bytes;
  return bytes;
}

/* All processes come to the same result. */
static bool is_wanted(const ambit_program *p, int64_t iterations)
{
  if (p->lean_known || iterations < 2) return false;
  if (is_asked(p)) return true;
  return !strcmp(p->grid->context->settings.lean, "auto") && !*ambit__program_plan(p) &&
         bytes_of(p) * (double)iterations >= WORTHWHILE;
}

/* Caches of cores load what is stored to; GPUs gain nothing. */
static bool is_on_cores(const ambit_program *p)
{
  for (int i = 0; i < p->grid->placement.n; i++)
    if (strcmp(ambit__engine_of(p->grid, i)->backend->name, "cpu")) return false;
  return true;
}

/* Seals the lean form. If fields are stored anew for it, the program is unsealed, and has none. */
static ambit_status seal_lean(ambit_program *p)
{
  ambit_status s;

  p->is_calling = true; /* it is not unsealed meanwhile */
  s = ambit__program_seal(p->lean->program);
  p->is_calling = false;
  if (p->is_outdated) ambit__program_unseal(p);
  p->is_outdated = false;
  return s;
}

ambit_status ambit__lean_prepare(ambit_program *p, int64_t iterations)
{
  ambit__net *net = p->grid->context->net;

  while (is_wanted(p, iterations)) {
    bool can = is_asked(p) || is_on_cores(p);

    p->lean_known = true;
    AMBIT_TRY(ambit__net_all(net, &can, 1));
    can = can && !ambit__program_has_profiles(p);
    if (can) ambit__lean_make(p);
    AMBIT_TRY(ambit__net_agree(net));
    if (!p->lean) return AMBIT_OK;
    AMBIT_TRY(seal_lean(p));
    AMBIT_TRY(ambit__program_seal(p));
  }
  return AMBIT_OK;
}

ambit_status ambit__lean_open(ambit_program *p)
{
  bool can = true;

  if (!p->lean) return AMBIT_OK;
  for (size_t i = 0; !p->lean->everywhere && i < p->nwritten; i++)
    for (int k = 1; can && p->written[i].kind == STEP_ROTATE && k < p->written[i].n; k++)
      AMBIT_TRY(ambit__fields_check_alike(p, p->written[i].args[0].field,
                                          p->written[i].args[k].field, &p->lean->region, &can));
  AMBIT_TRY(ambit__net_all(p->grid->context->net, &can, 1));
  p->lean->open = can;
  return AMBIT_OK;
}

bool ambit__lean_is_open(const ambit_program *p)
{
  return p->lean && p->lean->open && !p->is_called && p->lean->program &&
         p->lean->program->unseal && strcmp(p->grid->context->settings.lean, "off");
}

/* ---- iterations ---- */

static ambit_status run_lean(ambit_program *p, int64_t n, ambit__progress *progress)
{
  ambit_program *lean = p->lean->program;
  ambit_status s;

  lean->iteration = p->iteration;
  lean->is_running = p->is_calling = true;
  lean->may_stop = p->may_stop;
  ambit__program_forget_ghosts(p);
  s = ambit__run_or_stop(lean, ambit__program_ready(lean));
  if (!s) s = ambit__program_iterate_many(lean, n, progress);
  ambit__program_note_changes(lean);
  lean->is_running = p->is_calling = false;
  p->iteration = lean->iteration;
  return s;
}

static bool is_on_trial(const ambit_program *p)
{
  return !is_asked(p) && !ambit__trial_ended(&p->lean->trial, &rules);
}

/* In a trial, the lean form and the program take turns. */
static bool is_preferred(const ambit_program *p)
{
  const ambit__trial *t = &p->lean->trial;

  return is_asked(p) || (is_on_trial(p) ? t->at : ambit__trial_fastest(t, &rules)) == LEAN;
}

static void note(ambit_program *p, double seconds)
{
  ambit__trial *t = &p->lean->trial;

  ambit__trial_note(t, &rules, seconds, seconds);
  if (!is_on_trial(p))
    ambit__log(&p->grid->context->settings, 1,
               "an iteration with a field less takes %.3g s, with all %.3g s: %s", t->best[LEAN],
               t->best[COMPLETE], is_preferred(p) ? "a field less" : "all");
}

ambit_status ambit__lean_iterate(ambit_program *p, int64_t n, ambit__progress *progress,
                                 ambit_status (*plain)(ambit_program *, int64_t, ambit__progress *))
{
  while (n > 0 && !ambit__run_stops(p)) {
    const bool timed = is_on_trial(p), lean = is_preferred(p);
    const int64_t block = timed && n > BLOCK ? BLOCK : n;
    double start, seconds;

    if (timed) AMBIT_TRY(ambit__run_or_stop(p, ambit__engines_wait(p->grid->context)));
    start = ambit__clock();
    AMBIT_TRY(lean ? run_lean(p, block, progress) : plain(p, block, progress));
    AMBIT_TRY(ambit__run_or_stop(p, ambit__program_ready(p)));
    n -= block;
    if (!timed || ambit__run_stops(p)) continue;
    AMBIT_TRY(ambit__run_or_stop(p, ambit__engines_wait(p->grid->context)));
    seconds = (ambit__clock() - start) / (double)block;
    AMBIT_TRY(ambit__net_max(p->grid->context->net, &seconds, 1));
    note(p, seconds);
  }
  return AMBIT_OK;
}
