/* SPDX-License-Identifier: BSD-3-Clause */
/* halo_state.c - what flows from step to step: which halos are still good, and which must be fetched before a step.
 *
 * All of it is known before the first iteration. A walk over the steps carries, for every field, the fetch that its surroundings were
 * last made by; writing a field spoils them, rotating fields moves them. What holds at the end of an iteration
 * holds at the start of the next; so the state at the start is the largest one that an iteration gives back. Before a
 * run, what it presumes is fetched if need be; after that every iteration is the same list.
 */
#include "runtime/program/halo_state.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int index_of(const ambit_program *p, const ambit_field *f)
{
  for (int i = 0; i < p->nfields; i++)
    if (p->fields[i] == f) return i;
  return -1;
}

/* Whether the step reads what the fetch brings. */
static bool wants(const ambit_program *p, size_t step, const ambit__field_halo *f)
{
  const ambit__step *s = &p->steps[step];

  if (s->kind != STEP_APPLY || ambit__box_is_empty(&p->applies[step].region)) return false;
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field == f->field && s->kernel->rule->params[i].reads_neighbours) return true;
  return false;
}

static bool holds(const ambit_program *p, const int *made, int halo)
{
  int m = made[index_of(p, p->halos.list[halo].field)];

  return m >= 0 && ambit__field_halo_covers(&p->halos.list[m], &p->halos.list[halo]);
}

/* ---- one step ---- */

static bool unchanged(const ambit_program *p, const ambit_field *f, size_t from, size_t to)
{
  for (size_t i = from; i < to; i++)
    if (ambit__step_writes(&p->steps[i], f) ||
        (p->steps[i].kind == STEP_ROTATE && ambit__step_uses(&p->steps[i], f)))
      return false;
  return true;
}

/* Whether a step after this one wants the fetch, and what it brings is final by now. */
static bool soon_wanted(const ambit_program *p, size_t step, const ambit__field_halo *f)
{
  for (size_t i = step + 1; i < p->nsteps && unchanged(p, f->field, step, i); i++)
    if (wants(p, i, f)) return true;
  return false;
}

static int missing(const ambit_program *p, const int *made, size_t step, int *missing_halos)
{
  int n = 0, late = 0;

  for (int i = 0; i < p->halos.n; i++)
    if (wants(p, step, &p->halos.list[i]) && !holds(p, made, i)) missing_halos[n++] = i;
  for (int i = 0; n && i < p->halos.n; i++) /* they travel together */
    if (!wants(p, step, &p->halos.list[i]) && !holds(p, made, i) &&
        soon_wanted(p, step, &p->halos.list[i]))
      missing_halos[n + late++] = i;
  return n + late;
}

static void note_writes(const ambit_program *p, int *made, size_t step)
{
  for (int i = 0; i < p->nfields; i++)
    if (ambit__step_writes(&p->steps[step], p->fields[i]) && made[i] >= 0 &&
        p->halos.list[made[i]].varies)
      made[i] = -1;
}

static void note_rotation(const ambit_program *p, int *made, const ambit__step *s)
{
  int first = made[index_of(p, s->args[0].field)];

  for (int i = 0; i < s->n - 1; i++)
    made[index_of(p, s->args[i].field)] = made[index_of(p, s->args[i + 1].field)];
  made[index_of(p, s->args[s->n - 1].field)] = first;
}

int ambit__halo_state_step(const ambit_program *p, int *made, size_t step, int *missing_halos)
{
  int n;

  if (p->steps[step].kind == STEP_ROTATE) {
    note_rotation(p, made, &p->steps[step]);
    return 0;
  }
  n = missing(p, made, step, missing_halos);
  for (int i = 0; i < n; i++)
    made[index_of(p, p->halos.list[missing_halos[i]].field)] = missing_halos[i];
  if (!ambit__box_is_empty(&p->applies[step].region)) note_writes(p, made, step);
  return n;
}

/* ---- the state at the start ---- */

static void walk(const ambit_program *p, int *made, int *scratch)
{
  for (size_t i = 0; i < p->nsteps; i++)
    ambit__halo_state_step(p, made, i, scratch);
}

/* Takes out of `start` what an iteration that starts so does not give back. Returns whether anything was. */
static bool lessen(const ambit_program *p, int *start, int *made, int *scratch)
{
  bool changed = false;

  memcpy(made, start, (size_t)p->nfields * sizeof *made);
  walk(p, made, scratch);
  for (int i = 0; i < p->nfields; i++) {
    int want = start[i];

    if (want < 0 || holds(p, made, want)) continue;
    start[i] = -1;
    changed = true;
  }
  return changed;
}

ambit_status ambit__halo_state_start(ambit_program *p)
{
  ambit__errors *errors = ambit__program_errors(p);
  int *scratch;

  p->start = ambit__new(errors, (size_t)p->nfields + 1, sizeof *p->start);
  p->end = ambit__new(errors, (size_t)p->nfields + 1, sizeof *p->end);
  scratch = ambit__new(errors, (size_t)p->nfields + 1, sizeof *scratch);
  if (!p->start || !p->end || !scratch) {
    free(scratch);
    return AMBIT_ENOMEM;
  }
  for (int i = 0; i < p->nfields; i++)
    p->start[i] = ambit__field_halo_of(p, p->fields[i]);
  while (lessen(p, p->start, p->end, scratch))
    ;
  free(scratch);
  return AMBIT_OK;
}

/* ---- between runs ---- */

static bool still_good(const ambit_program *p, const ambit_field *f,
                       const ambit__field_halo *wanted)
{
  for (int i = 0; i < p->halos.n; i++)
    if (p->halos.list[i].id == f->ghosts.halo)
      return ambit__field_halo_covers(&p->halos.list[i], wanted) &&
             (!f->ghosts.stale || !p->halos.list[i].varies);
  return false;
}

bool ambit__halo_state_lacks(const ambit_program *p, int field)
{
  return p->start[field] >= 0 && !still_good(p, p->fields[field], &p->halos.list[p->start[field]]);
}

void ambit__halo_state_note(const ambit_program *p, const int *made)
{
  for (int i = 0; i < p->nfields; i++)
    p->fields[i]->ghosts = (ambit__ghosts){.halo = made[i] >= 0 ? p->halos.list[made[i]].id : 0};
}
