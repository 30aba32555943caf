/* SPDX-License-Identifier: BSD-3-Clause */
/* halo_state.c - which halos are valid at each step, and which must be exchanged before it.
 *
 * All of this is known before the first iteration. A pass over the steps tracks the valid halo of
 * every field: writing a field invalidates it, and rotating fields moves it. The state at the end
 * of an iteration is the state at the start of the next one, so the state at the start is the
 * largest one that an iteration restores. Before a run, missing halos of this state are exchanged;
 * after that every iteration executes the same schedule.
 */
#include "runtime/program/halo_state.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Whether the step reads the halo. */
static bool reads(const ambit_program *p, size_t step, const ambit__field_halo *f)
{
  const ambit__step *s = &p->steps[step];

  if (s->kind != STEP_APPLY || ambit__box_is_empty(&p->applies[step].region)) return false;
  for (int i = 0; i < s->n; i++)
    if (s->args[i].field == f->field && s->kernel->rule->params[i].reads_neighbours) return true;
  return false;
}

static bool covers(const ambit__halos *h, int a, int b)
{
  char *known = &h->covers[a * h->n + b];

  if (!*known) *known = ambit__field_halo_covers(&h->list[a], &h->list[b]) ? 'y' : 'n';
  return *known == 'y';
}

static bool holds(const ambit_program *p, const int *valid, int halo)
{
  const int m = valid[ambit__program_field(p, p->halos.list[halo].field)];

  return m >= 0 && covers(&p->halos, m, halo);
}

/* ---- one step ---- */

/* Whether a later step reads the halo, and no step changes the field before it. */
static bool read_later(const ambit_program *p, size_t step, const ambit__field_halo *f)
{
  for (size_t i = step; !f->lent && i < p->nsteps; i++) {
    if (i > step && reads(p, i, f)) return true;
    if (ambit__step_calls_back(&p->steps[i]) || ambit__step_changes(&p->steps[i], f->field))
      return false;
  }
  return false;
}

static int missing(const ambit_program *p, const int *valid, size_t step, int *missing_halos)
{
  const bool shares = p->steps[step].every == 1; /* later steps may run when this one does not */
  int n = 0, late = 0;

  for (int i = 0; i < p->halos.n; i++)
    if (reads(p, step, &p->halos.list[i]) && !holds(p, valid, i)) missing_halos[n++] = i;
  for (int i = 0; n && shares && i < p->halos.n; i++) /* they share one exchange */
    if (!reads(p, step, &p->halos.list[i]) && !holds(p, valid, i) &&
        read_later(p, step, &p->halos.list[i]))
      missing_halos[n + late++] = i;
  return n + late;
}

/* Whether a called program may fill the ghost cells of a field as the field's own boundaries say,
 * where a halo lent by, or rotated from, another field is valid. */
static bool spoils(const ambit_program *p, const ambit__step *s, int field, int halo)
{
  const ambit__field_halo *h = &p->halos.list[halo];

  return s->kind == STEP_CALL && ambit__step_uses(s, p->fields[field]) &&
         (h->lent || h->field != p->fields[field]);
}

/* A called program that rotates a field may leave it with a buffer without any ghost cells, and so
 * may a callback of it with any field. */
static void note_writes(const ambit_program *p, int *valid, size_t step)
{
  const ambit__step *s = &p->steps[step];
  const bool calls_back = ambit__step_calls_back(s);

  for (int i = 0; i < p->nfields; i++) {
    const bool varies = valid[i] >= 0 && p->halos.list[valid[i]].varies;
    const unsigned spoilt = EFFECT_ROTATES | (varies ? EFFECT_WRITES : 0);

    if (calls_back || ambit__step_effects(s, p->fields[i]) & spoilt ||
        (valid[i] >= 0 && spoils(p, s, i, valid[i])))
      valid[i] = -1;
  }
}

/* A step that runs every n iterations may have run or not: halos that it needs are not valid after
 * it, and neither are those of the fields that it writes. */
int ambit__halo_state_step(const ambit_program *p, int *valid, size_t step, int *missing_halos)
{
  const ambit__step *s = &p->steps[step];
  int n;

  if (s->kind == STEP_ROTATE) {
    ambit__step_rotate(p, s, valid);
    return 0;
  }
  n = missing(p, valid, step, missing_halos);
  for (int i = 0; i < n; i++)
    valid[ambit__program_field(p, p->halos.list[missing_halos[i]].field)] =
        s->every == 1 ? missing_halos[i] : -1;
  if (s->kind != STEP_APPLY || !ambit__box_is_empty(&p->applies[step].region))
    note_writes(p, valid, step);
  return n;
}

/* ---- the state at the start ---- */

static void walk(const ambit_program *p, int *valid, int *scratch)
{
  for (size_t i = 0; i < p->nsteps; i++)
    ambit__halo_state_step(p, valid, i, scratch);
}

/* Removes the halos from `start` that an iteration from this state does not restore. Returns
 * whether any was removed. */
static bool drop_unrestored(const ambit_program *p, int *start, int *valid, int *scratch)
{
  bool changed = false;

  memcpy(valid, start, (size_t)p->nfields * sizeof *valid);
  walk(p, valid, scratch);
  for (int i = 0; i < p->nfields; i++) {
    int want = start[i];

    if (want < 0 || holds(p, valid, want)) continue;
    start[i] = -1;
    changed = true;
  }
  return changed;
}

ambit_status ambit__halo_state_start(ambit_program *p)
{
  int *scratch;

  AMBIT_HOLD(p, p->start, (size_t)p->nfields);
  AMBIT_HOLD(p, p->end, (size_t)p->nfields);
  AMBIT_HOLD(p, p->halos.covers, (size_t)p->halos.n * (size_t)p->halos.n);
  AMBIT_NEW(ambit__program_errors(p), scratch, (size_t)p->nfields);
  for (int i = 0; i < p->nfields; i++) {
    const ambit__field_halo *h = ambit__halos_find(&p->halos, p->fields[i]);

    p->start[i] = h && !(h->lent && h->varies) ? (int)(h - p->halos.list) : -1;
  }
  while (drop_unrestored(p, p->start, p->end, scratch))
    ;
  free(scratch);
  return AMBIT_OK;
}

/* ---- between runs ---- */

static bool is_valid(const ambit_program *p, const ambit_field *f, const ambit__field_halo *wanted)
{
  for (int i = 0; i < p->halos.n; i++)
    if (p->halos.list[i].id == f->ghosts.halo)
      return ambit__field_halo_covers(&p->halos.list[i], wanted) &&
             (!f->ghosts.stale || !p->halos.list[i].varies);
  return false;
}

bool ambit__halo_state_lacks(const ambit_program *p, int field)
{
  return p->start[field] >= 0 && !is_valid(p, p->fields[field], &p->halos.list[p->start[field]]);
}

/* The halo of a field that views show is that of programs on its own grid. The ghost cells of a
 * view lie among its own. */
static void note_base(const ambit_program *p, const ambit_field *view)
{
  view->base->ghosts.constants = 0;
  if (!(ambit__program_effects(p, view) & EFFECT_WRITES)) return;
  view->base->ghosts.stale = true;
  view->base->likeness.id = 0;
  view->base->started = true;
}

bool ambit__halo_state_lacks_constants(const ambit__field_halo *h)
{
  return h->constants && h->field->ghosts.constants != h->constants;
}

void ambit__halo_state_note(const ambit_program *p, const int *valid)
{
  for (int i = 0; i < p->nfields; i++)
    if (p->fields[i]->base) note_base(p, p->fields[i]);
  for (int i = 0; i < p->nfields; i++) {
    const ambit__field_halo *h = ambit__halos_find(&p->halos, p->fields[i]);

    p->fields[i]->ghosts = (ambit__ghosts){.halo = valid[i] >= 0 ? p->halos.list[valid[i]].id : 0,
                                           .constants = h ? h->constants : 0};
  }
}
