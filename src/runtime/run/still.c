/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/run/still.h"

#include "base/memory.h"
#include "runtime/sleep/sleep.h"

#include <stdlib.h>
#include <string.h>

/* Values of a field on a part, in one of two places. */
typedef struct kept {
  ambit__device *device;
  ambit__store store;  /* on the device */
  unsigned char *host; /* dense; owned */
} kept;

struct ambit__still {
  ambit_program *p;
  uint64_t seals; /* of the program, when the rest was made for it */
  int needed;     /* still iterations in a row */
  int found;      /* of them, so far */
  bool known;     /* the rest describes the iteration before */
  bool resumed;   /* that was before an interruption, and sleep/ does not know it */
  size_t nvalues; /* of the following */
  kept *values;   /* by field and own part: at the end of that iteration; owned */
  uint64_t *sets; /* by field: how often the user had set it then; owned */
  bool *result;   /* by field: it holds values of a step; owned */
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
  for (size_t i = 0; i < s->nvalues; i++) {
    ambit__device *dev = s->values[i].device;

    if (s->values[i].store.buffer) ambit__ask(dev, release, s->values[i].store.buffer);
    free(s->values[i].host);
  }
  free(s->values);
  free(s->sets);
  free(s->result);
  s->nvalues = 0;
  s->values = NULL;
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
  AMBIT_NEW(errors, s->sets, nfields + 1);
  AMBIT_NEW(errors, s->result, nfields + 1);
  s->nvalues = nfields * nparts;
  for (size_t i = 0; i < s->nvalues; i++)
    s->values[i].device = ambit__engine_of(p->grid, (int)(i % nparts))->device;
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

static ambit_status compare_on_device(const ambit_field *field, int part, kept *k, bool *same)
{
  const ambit__engine *e = ambit__engine_of(field->grid, part);
  ambit__store *now = &field->stores[part];
  bool changed = false;

  if (!k->store.buffer) {
    k->store.layout = now->layout;
    AMBIT_TRY(ambit__store_allocate(field, part, &k->store));
  }
  AMBIT_TRY(ambit__do(e->queue, update, &k->store, now, &now->layout.own, &changed));
  *same &= !changed;
  return AMBIT_OK;
}

/* Where a cell of a sparse grid begins, at a position of its store in host memory. */
static unsigned char *cell_at(const ambit__store *s, const ambit__backend *backend, int64_t at)
{
  const ambit__layout *l = &s->layout;

  at = l->origin + at * l->stride[l->own.ndims - 1];
  return backend->address(s->buffer) + (size_t)at * ambit_type_size(l->type);
}

/* Compares n cells at a position of two stores alike, and copies those that differ. */
static bool update_cells(const ambit__store *to, const ambit__store *from,
                         const ambit__backend *backend, int64_t at, int64_t n)
{
  const ambit__layout *l = &to->layout;
  const size_t size = ambit_type_size(l->type);
  const bool together = l->order == AMBIT_AOS || l->components == 1;
  const size_t bytes = (size_t)n * size * (size_t)(together ? l->components : 1);
  bool same = true;

  for (int c = 0; c < (together ? 1 : l->components); c++) {
    unsigned char *p = cell_at(to, backend, at) + (size_t)(c * l->component) * size;
    const unsigned char *q = cell_at(from, backend, at) + (size_t)(c * l->component) * size;

    same &= ambit__values_same(p, q, bytes / size, l->type);
    memcpy(p, q, bytes);
  }
  return same;
}

/* On a sparse grid in host memory: nothing has the size of the box. */
static ambit_status compare_runs(const ambit_field *field, int part, kept *k, bool *same)
{
  const ambit__engine *e = ambit__engine_of(field->grid, part);
  const ambit__store *now = &field->stores[part];
  const ambit__active *a = now->layout.active;
  const int last = now->layout.own.ndims - 1;
  ambit__box row;
  int64_t i = 0;

  if (!k->store.buffer) {
    k->store.layout = now->layout;
    AMBIT_TRY(ambit__store_allocate(field, part, &k->store));
  }
  while (ambit__active_next(a, &now->layout.own, &i, &row))
    *same &= update_cells(&k->store, now, e->device->backend,
                          a->runs[i - 1].at + row.lo[last] - a->runs[i - 1].lo,
                          row.hi[last] - row.lo[last]);
  return AMBIT_OK;
}

static ambit_status compare_on_host(const ambit_field *field, int part, kept *k, bool *same)
{
  const ambit__engine *e = ambit__engine_of(field->grid, part);
  const ambit__box *own = &field->stores[part].layout.own;
  const size_t bytes = (size_t)ambit__box_volume(own) * ambit__field_cell_bytes(field);
  unsigned char *now = ambit__new(ambit__field_errors(field), bytes, 1);
  ambit_status s;

  if (!now) return AMBIT_ENOMEM;
  s = ambit__do(e->queue, read, now, &field->stores[part], own);
  *same &= !s && k->host &&
           ambit__values_same(k->host, now, bytes / ambit_type_size(field->type), field->type);
  free(k->host);
  k->host = now;
  return s;
}

/* Compares the values of a field on a part with those kept, and keeps them. */
static ambit_status compare_part(ambit__still *s, int f, int part, bool *same)
{
  const ambit_field *field = s->p->fields[f];
  kept *k = &s->values[f * s->p->grid->placement.n + part];

  if (ambit__box_is_empty(&field->stores[part].layout.own)) return AMBIT_OK;
  if (ambit__can(ambit__engine_of(field->grid, part)->device->backend, update))
    return compare_on_device(field, part, k, same);
  if (field->grid->active && ambit__engine_of(field->grid, part)->device->backend->address)
    return compare_runs(field, part, k, same);
  return compare_on_host(field, part, k, same);
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
