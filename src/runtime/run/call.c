/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c - steps that run another program (docs/design/0014-calls.md).
 *
 * A called program runs as a program of its own: its halos are those of its steps, and its fields
 * say which are valid (ambit__ghosts). The steps of its caller, though, do not keep that up to date
 * from step to step, so the fields that they change are marked before the call. The caller in turn
 * knows which fields the called program may change (program/halo_state.c).
 */
#include "runtime/run/run.h"

/* Whether the caller fills, for a step, ghost cells that the called program has filled for another
 * field, which the buffer rotates into. */
static bool fills_lent(const ambit__step *s, int arg, const ambit_program *called)
{
  return s->kind == STEP_APPLY && s->kernel->rule->params[arg].reads_neighbours &&
         (ambit__program_effects(called, s->args[arg].field) & EFFECT_ROTATES ||
          ambit__program_calls_back(called));
}

/* Marks the fields of the called program, or of those that its callbacks may run, that steps of the
 * caller change. */
static void mark_changed(const ambit_program *p, const ambit_program *called)
{
  const bool any = ambit__program_calls_back(called);

  for (size_t i = 0; i < p->nsteps; i++) {
    const ambit__step *s = &p->steps[i];

    for (int k = 0; k < s->n; k++) {
      ambit_field *f = s->args[k].field;
      unsigned effects;

      if (!f || !(any || ambit__program_effects(called, f))) continue;
      if (f->base) f = f->base;
      effects = ambit__step_effects(s, f);
      if (effects & EFFECT_ROTATES || fills_lent(s, k, called)) f->ghosts = (ambit__ghosts){0};
      if (effects & EFFECT_WRITES) f->ghosts.stale = true;
      if (effects & (EFFECT_ROTATES | EFFECT_WRITES)) f->changes++; /* wakes tiles */
    }
  }
}

/* The work of a call counts for the caller too. */
static void count(ambit_program *p, const ambit_stats *now, const ambit_stats *before)
{
  p->stats.cells += now->cells - before->cells;
  p->stats.bytes += now->bytes - before->bytes;
  p->stats.flops += now->flops - before->flops;
}

ambit_status ambit__program_call(ambit_program *p, const ambit__subrun *call)
{
  ambit__trace *trace = p->grid->context->trace;
  const ambit_stats before = call->program->stats;
  const int64_t iteration = trace ? trace->iteration : -1;
  ambit__until until = {.scalar = call->scalar, .when = call->when, .bound = call->bound};
  ambit_status s;

  mark_changed(p, call->program);
  p->is_calling = true;
  s = ambit__program_run_called(call->program, call->most, call->scalar ? &until : NULL);
  p->is_calling = false;
  ambit__program_refresh(p);
  count(p, &call->program->stats, &before);
  if (trace) trace->iteration = iteration;
  AMBIT_TRY(s);
  AMBIT_CHECK(!p->is_outdated, ambit__program_errors(p), AMBIT_EPROGRAM,
              "a callback of a called program changed steps, boundaries or fields of the program "
              "that called it, or gave a called program its first callback; only callbacks of the "
              "caller can");
  return AMBIT_OK;
}
