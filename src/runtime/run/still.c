/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/run/still.h"

#include "base/memory.h"
#include "runtime/sleep/sleep.h"

#include <stdlib.h>
#include <string.h>

/* Values of a field on a part, in one of two places. */
typedef struct kept {
  ambit__store store;  /* on the device */
  unsigned char *host; /* dense; owned */
} kept;

struct ambit__still {
  ambit_program *p;
  int nfields;       /* of the program when it was opened */
  int needed;        /* still iterations in a row */
  int found;         /* of them, so far */
  bool known;        /* the rest describes the iteration before */
  kept *values;      /* by field and own part: at the end of that iteration; owned */
  uint64_t *changes; /* by field: ambit_field.changes then; owned */
  bool *result;      /* by field: it holds values of a step; owned */
};

/* Rotations restore all buffers after a number of iterations. */
static int find_needed(const ambit_program *p)
{
  int most = 1;

  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_ROTATE && p->steps[i].n - 1 > most) most = p->steps[i].n - 1;
  return most;
}

ambit_status ambit__still_open(ambit_program *p, ambit__still **out)
{
  ambit__errors *errors = ambit__program_errors(p);
  ambit__still *s = ambit__new(errors, 1, sizeof *s);
  const size_t n = (size_t)p->nfields + 1;

  *out = s;
  if (!s) return AMBIT_ENOMEM;
  s->p = p;
  s->nfields = p->nfields;
  s->needed = find_needed(p);
  if (p->sleep) p->sleep->still = -1;
  s->values = ambit__new(errors, n * ((size_t)p->grid->placement.n + 1), sizeof *s->values);
  s->changes = ambit__new(errors, n, sizeof *s->changes);
  s->result = ambit__new(errors, n, sizeof *s->result);
  return s->values && s->changes && s->result ? AMBIT_OK : AMBIT_ENOMEM;
}

void ambit__still_close(ambit__still *s)
{
  if (!s) return;
  for (int i = 0; s->values && i < s->nfields * s->p->grid->placement.n; i++) {
    ambit__device *dev = ambit__engine_of(s->p->grid, i % s->p->grid->placement.n)->device;

    if (s->values[i].store.buffer) dev->backend->release(dev, s->values[i].store.buffer);
    free(s->values[i].host);
  }
  free(s->values);
  free(s->changes);
  free(s->result);
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
  AMBIT_TRY(e->device->backend->update_box(e->queue, &k->store, now, &now->layout.own, &changed));
  *same &= !changed;
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
  s = e->device->backend->read_box(e->queue, now, &field->stores[part], own);
  *same &= !s && k->host && !memcmp(k->host, now, bytes);
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
  if (ambit__engine_of(field->grid, part)->device->backend->update_box)
    return compare_on_device(field, part, k, same);
  return compare_on_host(field, part, k, same);
}

static ambit_status compare(ambit__still *s, bool *same)
{
  const ambit_program *p = s->p;

  ambit__program_results(p, s->result);
  AMBIT_TRY(ambit__engines_wait(p->grid->context));
  for (int f = 0; f < p->nfields; f++) {
    *same &= s->changes[f] == p->fields[f]->changes;
    s->changes[f] = p->fields[f]->changes;
    for (int i = 0; s->result[f] && i < p->grid->placement.n; i++)
      AMBIT_TRY(compare_part(s, f, i, same));
  }
  return AMBIT_OK;
}

/* ---- answers ---- */

static bool by_sleep(const ambit__still *s)
{
  return s->p->sleep && s->p->sleep->steps && s->p->sleep->once;
}

int64_t ambit__still_needs(const ambit__still *s)
{
  return s->p->sleep ? INT64_MAX / 2 : s->needed;
}

void ambit__still_skip(ambit__still *s)
{
  s->known = false;
}

ambit_status ambit__still_check(ambit__still *s, bool last, bool *still)
{
  const ambit_program *p = s->p;
  bool same = s->known, moves;

  if (by_sleep(s)) {
    s->found = p->sleep->still;
  } else {
    AMBIT_TRY(compare(s, &same));
    s->found = same ? s->found + 1 : 0;
    s->known = true;
  }
  *still = false;
  if (!last) return AMBIT_OK;
  moves = s->found < s->needed;
  AMBIT_TRY(ambit__net_any(p->grid->context->net, &moves, 1));
  *still = !moves;
  return AMBIT_OK;
}
