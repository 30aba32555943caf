/* SPDX-License-Identifier: BSD-3-Clause */
/* halo_needs.c - what the steps of a program read of each field beyond the parts' own cells.
 *
 * One fetch per field, for all steps that read it at neighbours: what one step fetched is enough for the
 * others. The boxes come from grid/halo; margins are made wide enough here.
 */
#include "base/memory.h"
#include "runtime/program/program.h"

#include <stdlib.h>
#include <string.h>

/* ---- needs ---- */

static bool is_own_cell(const int *offset)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (offset[d]) return false;
  return true;
}

static bool same_need(const ambit__need *a, const ambit__need *b)
{
  return ambit__box_equal(&a->region, &b->region) &&
         !memcmp(a->offset, b->offset, sizeof a->offset);
}

static bool has_need(const ambit__field_halo *f, const ambit__need *need)
{
  for (int i = 0; i < f->nneeds; i++)
    if (same_need(&f->needs[i], need)) return true;
  return false;
}

static ambit_status add_need(ambit_program *p, ambit__field_halo *f, size_t *cap,
                             const ambit__need *need)
{
  ambit__need *needs;

  if (has_need(f, need)) return AMBIT_OK;
  needs = ambit__grow(ambit__program_errors(p), f->needs, (size_t)f->nneeds, cap, sizeof *needs);
  if (!needs) return AMBIT_ENOMEM;
  f->needs = needs;
  f->needs[f->nneeds++] = *need;
  return AMBIT_OK;
}

/* What is read round the ends of rows lies in them: the whole rows are needed. */
static void take_rows(const ambit_program *p, ambit__need *need)
{
  const int x = p->grid->box.ndims - 1;

  if (!need->offset[x]) return;
  need->offset[x] = 0;
  need->region.lo[x] = 0;
  need->region.hi[x] = p->grid->box.hi[x];
}

/* The reads of one step. */
static ambit_status add_step(ambit_program *p, size_t step, ambit__field_halo *f, size_t *cap)
{
  const ambit__step *s = &p->steps[step];
  const ambit__box *region = &p->applies[step].region;
  const bool around = ambit__field_wraps_rows(p, f->field);

  if (s->kind != STEP_APPLY || ambit__box_is_empty(region)) return AMBIT_OK;
  for (int i = 0; i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];

    for (int k = 0; s->args[i].field == f->field && k < q->nreads; k++) {
      ambit__need need = {.region = *region};

      memcpy(need.offset, q->reads[k].offset, sizeof need.offset);
      if (around) take_rows(p, &need);
      if (!is_own_cell(need.offset)) AMBIT_TRY(add_need(p, f, cap, &need));
    }
  }
  return AMBIT_OK;
}

/* ---- fetches ---- */

/* Whether what lies around the own cells of a part depends on own cells, of whichever part. All parts of all processes are
 * asked: whether an exchange is needed, and its number, must not differ between processes. */
static bool varies(const ambit_program *p, const ambit__field_halo *f)
{
  const ambit__boundaries *b = &f->field->boundaries;

  for (int i = 0; i < p->grid->nparts; i++) {
    const ambit__reach *r = &f->halo.reaches[i];

    if (ambit__box_is_empty(&p->grid->parts[i])) continue;
    if (!ambit__box_equal(&r->given, &p->grid->parts[i])) return true;
    for (int d = 0; d < p->grid->box.ndims; d++) {
      if (r->reach.lo[d] < r->given.lo[d] && b->kind[d][0] != AMBIT_CONSTANT) return true;
      if (r->reach.hi[d] > r->given.hi[d] && b->kind[d][1] != AMBIT_CONSTANT) return true;
    }
  }
  return false;
}

/* Whether no part reads beyond its own cells. */
static bool is_nothing(const ambit_program *p, const ambit__field_halo *f)
{
  for (int i = 0; f->nneeds && i < p->grid->nparts; i++)
    if (!ambit__box_is_empty(&p->grid->parts[i]) &&
        !ambit__box_equal(&f->halo.reaches[i].reach, &p->grid->parts[i]))
      return false;
  return true;
}

ambit__halo_spec ambit__field_halo_spec(const ambit_program *p, const ambit__field_halo *f)
{
  const ambit_grid *g = p->grid;

  return (ambit__halo_spec){.grid = &g->box,
                            .parts = g->parts,
                            .nparts = g->nparts,
                            .boundaries = &f->field->boundaries,
                            .needs = f->needs,
                            .nneeds = f->nneeds,
                            .mine = g->mine};
}

static ambit_status make_fetch(ambit_program *p, ambit_field *field)
{
  ambit__field_halo *f = &p->halos[p->nhalos++];
  size_t cap = 0;

  *f = (ambit__field_halo){.field = field, .id = ++p->grid->context->last_id};
  for (size_t i = 0; i < p->nsteps; i++)
    AMBIT_TRY(add_step(p, i, f, &cap));
  if (f->nneeds) {
    ambit__halo_spec spec = ambit__field_halo_spec(p, f);

    AMBIT_TRY(ambit__halo_make(ambit__program_errors(p), &spec, &f->halo));
    f->varies = varies(p, f);
  }
  if (is_nothing(p, f)) {
    ambit__halo_free(&f->halo);
    free(f->needs);
    p->nhalos--;
  }
  return AMBIT_OK;
}

ambit_status ambit__program_halos(ambit_program *p)
{
  p->halos = ambit__new(ambit__program_errors(p), (size_t)p->nfields, sizeof *p->halos);
  if (!p->halos) return AMBIT_ENOMEM;
  if (!p->grid->context->engines[0].device->backend->ghosts) return AMBIT_OK;
  for (int i = 0; i < p->nfields; i++)
    AMBIT_TRY(make_fetch(p, p->fields[i]));
  return AMBIT_OK;
}

void ambit__program_free_halos(ambit_program *p)
{
  for (int i = 0; i < p->nhalos; i++) {
    ambit__halo_free(&p->halos[i].halo);
    free(p->halos[i].needs);
  }
  free(p->halos);
  p->halos = NULL;
  p->nhalos = 0;
}

int ambit__field_halo_of(const ambit_program *p, const ambit_field *field)
{
  for (int i = 0; i < p->nhalos; i++)
    if (p->halos[i].field == field) return i;
  return -1;
}

bool ambit__field_halo_covers(const ambit__field_halo *a, const ambit__field_halo *b)
{
  if (a == b) return true;
  if (!ambit__boundaries_equal(&a->field->boundaries, &b->field->boundaries)) return false;
  for (int i = 0; i < b->nneeds; i++)
    if (!has_need(a, &b->needs[i])) return false;
  return true;
}

/* ---- margins ---- */

/* The margins of a field are the same on all parts: so each end of a message knows how cells lie at the other. */
static ambit_status widen_for(const ambit__field_halo *f, bool *changed)
{
  const ambit_grid *g = f->field->grid;
  int64_t low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};

  for (int i = 0; i < g->nparts; i++)
    for (int d = 0; !ambit__box_is_empty(&g->parts[i]) && d < g->box.ndims; d++) {
      const ambit__box *own = &g->parts[i], *reach = &f->halo.reaches[i].reach;

      if (own->lo[d] - reach->lo[d] > low[d]) low[d] = own->lo[d] - reach->lo[d];
      if (reach->hi[d] - own->hi[d] > high[d]) high[d] = reach->hi[d] - own->hi[d];
    }
  for (int k = 0; k < g->placement.n; k++)
    AMBIT_TRY(ambit__field_widen(f->field, k, low, high, changed));
  return AMBIT_OK;
}

/* Fields that trade buffers must have the same margins. Tells whether anything changed. */
static ambit_status widen_alike(const ambit__step *s, int part, bool *changed)
{
  int64_t low[AMBIT_MAX_DIMS] = {0}, high[AMBIT_MAX_DIMS] = {0};

  for (int i = 0; i < s->n; i++)
    for (int d = 0; d < s->args[i].field->grid->box.ndims; d++) {
      const ambit__layout *l = &s->args[i].field->stores[part].layout;

      if (l->margin_lo[d] > low[d]) low[d] = l->margin_lo[d];
      if (l->margin_hi[d] > high[d]) high[d] = l->margin_hi[d];
    }
  for (int i = 0; i < s->n; i++)
    AMBIT_TRY(ambit__field_widen(s->args[i].field, part, low, high, changed));
  return AMBIT_OK;
}

static ambit_status widen_all(const ambit_program *p, bool *any)
{
  const int nparts = p->grid->placement.n;
  bool changed;

  for (int i = 0; i < p->nhalos; i++)
    AMBIT_TRY(widen_for(&p->halos[i], any));
  do {
    changed = false;
    for (size_t i = 0; i < p->nsteps; i++)
      for (int k = 0; p->steps[i].kind == STEP_ROTATE && k < nparts; k++)
        AMBIT_TRY(widen_alike(&p->steps[i], k, &changed));
    *any |= changed;
  } while (changed);
  return AMBIT_OK;
}

/* Other programs may rotate a field that is wider now with one that is not: they are sealed anew before they run, on all
 * processes if on one. */
static void unseal_others(const ambit_program *p)
{
  for (ambit__link *i = p->grid->programs.next; i->owner; i = i->next)
    if (i->owner != p) ambit__program_unseal(i->owner);
}

ambit_status ambit__program_widen(ambit_program *p)
{
  bool changed = false;
  ambit_status s = widen_all(p, &changed);

  if (!s) s = ambit__net_any(p->grid->context->net, &changed, 1);
  if (s || changed) unseal_others(p);
  return s;
}
