/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/run/still.h"

#include "base/memory.h"
#include "runtime/sleep/sleep.h"

#include <stdlib.h>
#include <string.h>

struct ambit__still {
  ambit_program *p;
  uint64_t seals;        /* of the program, when the rest was made for it */
  int needed;            /* still iterations in a row */
  int found;             /* of them, so far */
  bool known;            /* the rest describes the iteration before */
  bool resumed;          /* that was before an interruption, and sleep/ does not know it */
  size_t nvalues;        /* of the following */
  ambit__store *values;  /* by field and own part: at the end of that iteration; owned */
  ambit__device **where; /* they are on; owned */
  uint64_t *sets;        /* by field: how often the user had set it then; owned */
  int *result;           /* by field: it holds values of a step; owned */
};

/* Rotations restore all buffers after a number of iterations. */
static int find_needed(const ambit_program *p)
{
  int most = 1;

  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_ROTATE && p->steps[i].n - 1 > most) most = p->steps[i].n - 1;
  return most;
}

static void clear(ambit__still *s)
{
  for (size_t i = 0; i < s->nvalues; i++)
    if (s->values[i].buffer) ambit__ask(s->where[i], release, s->values[i].buffer);
  free(s->values);
  free(s->where);
  free(s->sets);
  free(s->result);
  s->nvalues = 0;
  s->values = NULL;
  s->where = NULL;
  s->sets = NULL;
  s->result = NULL;
}

/* For the program as it is sealed now: its fields, parts and margins. */
static ambit_status begin(ambit__still *s)
{
  const ambit_program *p = s->p;
  ambit__errors *errors = ambit__program_errors(p);
  const size_t nfields = (size_t)p->nfields, nparts = (size_t)p->grid->placement.n;

  clear(s);
  s->seals = p->seals;
  s->needed = find_needed(p);
  s->known = s->resumed = false;
  AMBIT_NEW(errors, s->values, nfields * nparts + 1);
  AMBIT_NEW(errors, s->where, nfields * nparts + 1);
  AMBIT_NEW(errors, s->sets, nfields + 1);
  AMBIT_NEW(errors, s->result, nfields + 1);
  s->nvalues = nfields * nparts;
  for (size_t i = 0; i < s->nvalues; i++)
    s->where[i] = ambit__engine_of(p->grid, (int)(i % nparts))->device;
  return AMBIT_OK;
}

ambit_status ambit__still_open(ambit_program *p, ambit__still **out)
{
  ambit__still *s = ambit__new(ambit__program_errors(p), 1, sizeof *s);

  *out = s;
  if (!s) return AMBIT_ENOMEM;
  s->p = p;
  return begin(s);
}

void ambit__still_close(ambit__still *s)
{
  if (!s) return;
  clear(s);
  free(s);
}

/* ---- comparison ---- */

/* Compares the values of a field on a part with those kept, and keeps them. */
static ambit_status compare_part(ambit__still *s, int f, int part, bool *same)
{
  const ambit_field *field = s->p->fields[f];
  ambit__store *k = &s->values[f * s->p->grid->placement.n + part];
  ambit__store *now = &field->stores[part];
  bool changed = false;

  if (ambit__box_is_empty(&now->layout.own)) return AMBIT_OK;
  if (!k->buffer) {
    k->layout = now->layout;
    AMBIT_TRY(ambit__store_allocate(field, part, k));
  }
  AMBIT_TRY(ambit__do(ambit__engine_of(field->grid, part)->queue, update, k, now, &now->layout.own,
                      &changed));
  *same &= !changed;
  return AMBIT_OK;
}

static uint64_t sets_of(const ambit_field *f)
{
  return f->sets + (f->base ? f->base->sets : 0);
}

/* Whether the user set no field since the iteration before. */
static bool is_left_alone(ambit__still *s)
{
  const ambit_program *p = s->p;
  bool same = true;

  for (int f = 0; f < p->nfields; f++) {
    same &= s->sets[f] == sets_of(p->fields[f]);
    s->sets[f] = sets_of(p->fields[f]);
  }
  return same;
}

static ambit_status compare(ambit__still *s, bool *same)
{
  const ambit_program *p = s->p;

  ambit__program_results(p, s->result);
  AMBIT_TRY(ambit__engines_wait(p->grid->context));
  for (int f = 0; f < p->nfields; f++)
    for (int i = 0; s->result[f] && i < p->grid->placement.n; i++)
      AMBIT_TRY(compare_part(s, f, i, same));
  return AMBIT_OK;
}

/* ---- answers ---- */

static bool by_sleep(const ambit__still *s)
{
  return s->p->sleep && s->p->sleep->steps && s->p->sleep->exact;
}

int64_t ambit__still_needs(const ambit__still *s)
{
  return s->p->sleep ? INT64_MAX / 2 : s->needed;
}

void ambit__still_skip(ambit__still *s)
{
  s->known = false;
}

int ambit__still_found(const ambit__still *s)
{
  return s->known ? s->found : -1;
}

ambit_status ambit__still_resume(ambit__still *s, int found)
{
  bool same = is_left_alone(s);

  AMBIT_TRY(compare(s, &same));
  s->found = found;
  s->known = s->resumed = true;
  return AMBIT_OK;
}

ambit_status ambit__still_recut(ambit__still *s, uint64_t seals)
{
  const int found = ambit__still_found(s);
  uint64_t *sets = s->sets;
  ambit_status status;

  if (s->seals != seals) return AMBIT_OK; /* a callback has changed the program */
  s->sets = NULL;
  status = begin(s);
  if (!status && found >= 0) status = ambit__still_resume(s, found);
  if (!status) memcpy(s->sets, sets, (size_t)s->p->nfields * sizeof *sets); /* by a callback, too */
  free(sets);
  return status;
}

ambit_status ambit__still_check(ambit__still *s, bool last, bool *still)
{
  const ambit_program *p = s->p;
  bool same, moves;

  *still = false;
  if (s->seals != p->seals) AMBIT_TRY(begin(s)); /* a callback has changed it */
  same = is_left_alone(s) && s->known;
  if (by_sleep(s) && !s->resumed)
    same &= p->sleep->still;
  else
    AMBIT_TRY(compare(s, &same));
  s->resumed = false;
  s->found = same ? s->found + 1 : 0;
  s->known = true;
  if (!last) return AMBIT_OK;
  moves = s->found < s->needed;
  AMBIT_TRY(ambit__net_any(p->grid->context->net, &moves, 1));
  *still = !moves;
  return AMBIT_OK;
}
