/* SPDX-License-Identifier: BSD-3-Clause */
/* constant_ghosts.c - constant ghost cells are filled once.
 *
 * They do not depend on own cells, so they stay valid while steps write the field, and they move
 * with the buffer when fields rotate. A buffer that rotates into a field needs the constant ghost
 * cells of that field: a field that no step reads at neighbours gets the halo of a partner (it is
 * lent), and all of them are filled before the first iteration. If rotated fields are read
 * differently or have other boundaries, each buffer gets the constant ghost cells of all these
 * fields, if none of them keeps other values there; else every exchange fills all ghost cells. So
 * it does in programs that call others, which may rotate fields in the middle of an iteration, and
 * in programs on views, whose ghost cells lie among those of another field, or on fields whose
 * components have boundaries of their own; there only halos without any other ghost cells are lent.
 */
#include "base/number.h"
#include "runtime/program/program.h"

static bool keeps_constants(const ambit_program *p)
{
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_CALL) return false;
  for (int i = 0; i < p->nfields; i++)
    if (p->fields[i]->base || p->fields[i]->special) return false;
  return true;
}

/* Whether reads of the field go beyond a face of the grid: to ghost cells, or to cells of other
 * parts where an axis that is cut is periodic. */
static bool goes_beyond(const ambit_program *p, const ambit__field_halo *h, int d, int side)
{
  const ambit__box *box = &p->grid->box;

  for (int i = 0; i < h->nslices; i++)
    for (int k = 0; k < p->grid->nparts; k++) {
      const ambit__reach *r = &h->slices[i].halo.reaches[k];

      if (!ambit__box_is_empty(&p->grid->parts[k]) &&
          (side ? r->reach.hi[d] > box->hi[d] : r->reach.lo[d] < box->lo[d]))
        return true;
    }
  return false;
}

static bool has_constants(const ambit_program *p, const ambit__field_halo *h)
{
  for (int d = 0; d < p->grid->box.ndims; d++)
    for (int side = 0; side < 2; side++)
      if (h->boundaries->kind[d][side] == AMBIT_CONSTANT && goes_beyond(p, h, d, side)) return true;
  return false;
}

/* ---- lent halos ---- */

/* A field that is rotated with f and has constant ghost cells. */
static ambit_field *find_partner(const ambit_program *p, const ambit__halos *halos,
                                 const ambit_field *f)
{
  for (size_t k = 0; k < p->nsteps; k++) {
    const ambit__step *s = &p->steps[k];

    if (s->kind != STEP_ROTATE || !ambit__step_uses(s, f)) continue;
    for (int i = 0; i < s->n; i++) {
      const ambit__field_halo *h = ambit__halos_find(halos, s->args[i].field);

      if (h && !h->lent && (!h->varies || (keeps_constants(p) && has_constants(p, h))))
        return s->args[i].field;
    }
  }
  return NULL;
}

static ambit_status lend(ambit_program *p, ambit__halos *halos)
{
  for (int i = 0; i < p->nfields; i++) {
    ambit_field *partner = find_partner(p, halos, p->fields[i]);
    ambit__field_halo *h = &halos->list[halos->n];

    if (!partner || ambit__halos_find(halos, p->fields[i])) continue;
    halos->n++;
    AMBIT_TRY(ambit__field_halo_make(p, NULL, partner, h));
    h->lent = true;
    h->field = p->fields[i];
    for (int k = 0; k < h->nslices; k++)
      h->slices[k].field = p->fields[i];
  }
  return AMBIT_OK;
}

/* ---- halos that keep their constant ghost cells ---- */

/* Whether a buffer can have the constant ghost cells of both: at no face one has constants where
 * the other one has something else. */
static bool agree(const ambit_program *p, const ambit__field_halo *a, const ambit__field_halo *b)
{
  for (int d = 0; d < p->grid->box.ndims; d++)
    for (int side = 0; side < 2; side++) {
      const bool is_one = a->boundaries->kind[d][side] == AMBIT_CONSTANT;
      const bool is_other = b->boundaries->kind[d][side] == AMBIT_CONSTANT;

      if (!(is_one || is_other) || !goes_beyond(p, a, d, side) || !goes_beyond(p, b, d, side))
        continue;
      if (!is_one || !is_other ||
          !ambit__number_same(a->boundaries->value[d][side], b->boundaries->value[d][side]))
        return false;
    }
  return true;
}

/* Whether no other step rotates a field of this one. */
static bool rotates_alone(const ambit_program *p, const ambit__step *s)
{
  for (size_t k = 0; k < p->nsteps; k++)
    for (int i = 0; p->steps[k].kind == STEP_ROTATE && &p->steps[k] != s && i < s->n; i++)
      if (ambit__step_uses(&p->steps[k], s->args[i].field)) return false;
  return true;
}

/* Where the fields of a rotation have different halos: they have one id if all agree. */
static bool mix(const ambit_program *p, const ambit__halos *halos, const ambit__step *s)
{
  uint64_t id = 0;

  for (int i = 0; i < s->n; i++) {
    const ambit__field_halo *h = ambit__halos_find(halos, s->args[i].field);

    if (!h) return false;
    for (int k = 0; k < i; k++)
      if (!agree(p, h, ambit__halos_find(halos, s->args[k].field))) return false;
    if (h->constants && (!id || h->constants < id)) id = h->constants;
  }
  for (int i = 0; i < s->n && id; i++) {
    ambit__field_halo *h = ambit__halos_find(halos, s->args[i].field);

    h->constants = id;
    h->is_mixed = true;
  }
  return id != 0;
}

/* The fields of a rotation keep them only if all do, with the same cells and values; they then have
 * one id. Returns whether an id changed. */
static bool join(const ambit_program *p, const ambit__halos *halos, const ambit__step *s)
{
  const ambit__field_halo *first = ambit__halos_find(halos, s->args[0].field);
  uint64_t id = first ? first->constants : 0;
  bool changed = false;

  for (int i = 1; i < s->n; i++) {
    const ambit__field_halo *h = ambit__halos_find(halos, s->args[i].field);

    if (h && id && h->constants == id) continue; /* as an earlier rotation has found */
    if (!h || !id || !h->constants || !ambit__field_halo_covers(h, first) ||
        !ambit__field_halo_covers(first, h))
      id = 0;
    else if (h->constants < id)
      id = h->constants;
  }
  if (!id && rotates_alone(p, s) && mix(p, halos, s)) return false;
  for (int i = 0; i < s->n; i++) {
    ambit__field_halo *h = ambit__halos_find(halos, s->args[i].field);

    if (!h || h->constants == id) continue;
    h->constants = id;
    changed = true;
  }
  return changed;
}

static void leave_out_constants(const ambit_program *p, ambit__field_halo *h)
{
  h->changing = *h->boundaries;
  for (int d = 0; d < p->grid->box.ndims; d++)
    for (int side = 0; side < 2; side++)
      if (h->changing.kind[d][side] == AMBIT_CONSTANT) h->changing.kind[d][side] = AMBIT_NONE;
  for (int i = 0; i < h->nslices; i++)
    h->slices[i].changing = &h->changing;
}

ambit_status ambit__halos_keep_constants(ambit_program *p, ambit__halos *halos)
{
  bool changed;

  AMBIT_TRY(lend(p, halos));
  if (!keeps_constants(p)) return AMBIT_OK;
  for (int i = 0; i < halos->n; i++)
    halos->list[i].constants = has_constants(p, &halos->list[i]) ? halos->list[i].id : 0;
  do {
    changed = false;
    for (size_t i = 0; i < p->nsteps; i++)
      changed |= p->steps[i].kind == STEP_ROTATE && join(p, halos, &p->steps[i]);
  } while (changed);
  for (int i = 0; i < halos->n; i++)
    if (halos->list[i].constants) leave_out_constants(p, &halos->list[i]);
  return AMBIT_OK;
}
