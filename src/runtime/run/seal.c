/* SPDX-License-Identifier: BSD-3-Clause */
/* seal.c - seals programs: from the user's steps to the schedule.
 *
 * Phases, one function each: values at faces (faces.c); checks of the steps; comparison of
 * processes (compare_processes.c); steps that run as one (join.c); regions of the steps (build.c);
 * fields with closed rows (closed_rows.c); halos (halo_needs.c), for a cycle too
 * (cycle.c), for copies (copies.c) and for steps that write neighbours (returns.c); their memory
 * (margins.c); functions and arguments (build.c); valid halos (halo_state.c); whether tiles can
 * sleep (sleep/map.c); the schedule (schedule.c); the option plan (check_plan.c); recording
 * (replay.c).
 */
#include "runtime/explain/explain.h"
#include "runtime/program/cycle.h"
#include "runtime/program/faces.h"
#include "runtime/program/halo_state.h"
#include "runtime/program/join.h"
#include "runtime/program/lean.h"
#include "runtime/run/run.h"
#include "runtime/schedule/schedule.h"
#include "runtime/sleep/sleep.h"

static ambit_status check_periodic(ambit_program *p, const ambit__step *s)
{
  for (int i = 0; i < s->n; i++)
    for (int d = 0; s->args[i].field && d < p->grid->box.ndims; d++) {
      const ambit_field *f = s->args[i].field;
      const ambit_boundary *kind = f->boundaries.kind[d];

      AMBIT_CHECK((kind[0] == AMBIT_PERIODIC) == (kind[1] == AMBIT_PERIODIC),
                  ambit__program_errors(p), AMBIT_EPROGRAM,
                  "field '%s' is periodic on one face of axis %d only, and %s on the other: an "
                  "axis is periodic on both "
                  "its faces, AMBIT_AXIS(%d)",
                  f->name, d, ambit__boundary_name(kind[kind[0] == AMBIT_PERIODIC]), d);
    }
  return AMBIT_OK;
}

static ambit_status check_steps(ambit_program *p)
{
  AMBIT_CHECK(
      !p->broken, ambit__program_errors(p), AMBIT_EPROGRAM,
      "the program uses a field, scalar, kernel, record, points or program that was destroyed");
  AMBIT_CHECK(p->nsteps, ambit__program_errors(p), AMBIT_EPROGRAM,
              "the program has no steps: ambit_apply adds one");
  for (size_t i = 0; i < p->nsteps; i++) {
    const ambit__step *s = &p->steps[i];
    ambit__box region;

    if (s->kind != STEP_APPLY) continue;
    AMBIT_TRY(check_periodic(p, s));
    region = ambit__step_region(p, s);
    if (ambit__box_is_empty(&region)) continue;
    AMBIT_TRY(ambit__step_check_reads(p, s, &region));
    AMBIT_TRY(ambit__step_check_targets(p, s, &region));
    AMBIT_TRY(ambit__step_check_faces(p, s, &region));
    AMBIT_TRY(ambit__step_check_inactive(p, s, &region));
  }
  return ambit__program_check_reductions(p);
}

/* Lists all fields that the steps use, each once. */
static ambit_status list_fields(ambit_program *p)
{
  size_t most = 1;

  for (size_t i = 0; i < p->nsteps; i++)
    most += (size_t)p->steps[i].n;
  AMBIT_HOLD(p, p->fields, most);
  for (size_t i = 0; i < p->nsteps; i++)
    for (int k = 0; k < p->steps[i].n; k++) {
      ambit_field *f = p->steps[i].args[k].field;
      bool seen = !f;

      for (int j = 0; j < p->nfields; j++)
        seen |= p->fields[j] == f;
      if (!seen) p->fields[p->nfields++] = f;
    }
  return AMBIT_OK;
}

static ambit_status seal(ambit_program *p)
{
  /* the comparison passes errors to the other processes */
  if (!ambit__program_face(p) && !check_steps(p)) list_fields(p);
  AMBIT_TRY(ambit__program_compare(p));
  AMBIT_TRY(ambit__program_join(p));
  AMBIT_TRY(ambit__program_regions(p));
  AMBIT_TRY(ambit__program_normal(p));
  AMBIT_TRY(ambit__program_close_rows(p));
  AMBIT_TRY(ambit__halos_make(p, NULL, &p->halos));
  AMBIT_TRY(ambit__copies_make(p));
  AMBIT_TRY(ambit__returns_make(p));
  AMBIT_TRY(ambit__cycle_plan(p));
  AMBIT_TRY(ambit__program_widen(p));
  AMBIT_TRY(ambit__program_build(p));
  AMBIT_TRY(ambit__copies_place(p));
  AMBIT_TRY(ambit__halo_state_start(p));
  AMBIT_TRY(ambit__sleep_plan(p));
  AMBIT_TRY(ambit__program_schedule(p));
  AMBIT_TRY(ambit__program_check_plan(p));
  return ambit__replay_make(p);
}

static void unseal(ambit_program *p)
{
  p->unseal = NULL;
  ambit__lean_drop(p);
  p->lean_known = false;
  p->rival = (ambit__rival){0};
  ambit__replay_free(p);
  ambit__program_unschedule(p);
  ambit__sleep_free(p);
  ambit__program_discard(p);
  ambit__program_part(p);
  ambit__program_unface(p);
  ambit__halos_free(&p->halos);
  ambit__halos_free(&p->copies);
  ambit__halos_free(&p->returns);
  ambit__program_let_go(p);
  p->checker = NULL;
  p->fields = NULL;
  p->closes_rows = NULL;
  p->start = p->end = NULL;
  p->nfields = 0;
}

static ambit_status seal_one(ambit_program *p)
{
  ambit_status s;

  if (p->unseal) return AMBIT_OK;
  p->unseal = unseal;
  p->seals++;
  seal(p);
  s = ambit__net_agree(p->grid->context->net);
  if (s) ambit__program_unseal(p);
  return s;
}

/* With all programs that it calls. */
static bool is_sealed(const ambit_program *p)
{
  bool all = p->unseal && !p->broken;

  for (size_t i = 0; i < p->nsteps && all; i++)
    all = p->steps[i].kind != STEP_CALL || is_sealed(p->steps[i].call.program);
  return all;
}

/* Sealing a program may widen fields of others, which are then sealed again. Fields never become
 * narrower, so this ends. */
ambit_status ambit__program_seal(ambit_program *p)
{
  while (!is_sealed(p)) {
    for (size_t i = 0; i < p->nsteps; i++)
      if (p->steps[i].call.program) AMBIT_TRY(ambit__program_seal(p->steps[i].call.program));
    AMBIT_TRY(seal_one(p));
  }
  return ambit__explain_program(p);
}
