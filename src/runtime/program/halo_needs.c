/* SPDX-License-Identifier: BSD-3-Clause */
/* halo_needs.c - derives the halo of each field: all reads of all steps beyond the own cells of the
 * parts.
 *
 * A field has one halo for all steps that read it at neighbours, so one exchange serves them all.
 * Components that are read alike form a slice: D3Q19 sends across a face only the five populations
 * that are read there, not all nineteen. A field with order AMBIT_AOS has one slice, since the
 * components of a cell are contiguous. The boxes of a slice come from grid/halo.
 */
#include "base/memory.h"
#include "runtime/program/cycle.h"

#include <stdlib.h>
#include <string.h>

/* ---- needs ---- */

/* Offsets at which a parameter reads components of a slice. */
typedef struct offsets {
  int (*list)[AMBIT_MAX_DIMS];
  int n;
} offsets;

/* Kernels that read beyond the ends of rows themselves need whole rows. */
static ambit__box rows_of(const ambit_program *p, const ambit__box *region)
{
  const int x = p->grid->box.ndims - 1;
  ambit__box rows = *region;

  rows.lo[x] = 0;
  rows.hi[x] = p->grid->box.hi[x];
  return rows;
}

/* Collects the offsets of a parameter along closed rows, if `along`, or the others. */
static void collect(const ambit_program *p, const ambit__param *q, const ambit__halo_slice *slice,
                    bool closed, bool along, offsets *to)
{
  const int x = p->grid->box.ndims - 1;

  to->n = 0;
  for (int k = 0; k < q->nreads; k++) {
    const ambit__read *r = &q->reads[k];

    if (r->component < slice->first || r->component >= slice->first + slice->count) continue;
    if ((closed && r->offset[x]) != along) continue;
    memcpy(to->list[to->n], r->offset, sizeof *to->list);
    if (along) to->list[to->n][x] = 0;
    to->n++;
  }
}

/* Adds the reads of a parameter on the region and layers of `what`. */
static ambit_status add_param(ambit_program *p, const ambit__param *q, const ambit__need *what,
                              bool closed, ambit__halo_slice *slice)
{
  offsets o = {ambit__new(ambit__program_errors(p), (size_t)q->nreads + 1, sizeof *o.list), 0};
  ambit_status s = o.list ? AMBIT_OK : AMBIT_ENOMEM;

  for (int along = 0; !s && along <= (int)closed; along++) {
    ambit__need need = *what;

    collect(p, q, slice, closed, along, &o);
    if (along) need.region = rows_of(p, &what->region);
    s = ambit__needs_add(ambit__program_errors(p), &slice->needs, &need,
                         (const int(*)[AMBIT_MAX_DIMS])o.list, o.n);
  }
  free(o.list);
  return s;
}

/* Whether a stage reads, by an argument, values that a field had at the start of the first
 * iteration. */
static bool reads_first(const ambit_program *p, const ambit__flow *flow, int stage, int arg,
                        const ambit_field *field)
{
  const int port = flow->stages[stage].port[arg];
  int v = port < 0 ? -1 : flow->in[port];

  while (v >= 0 && flow->values[v].stage >= 0) /* in cells that stages left alone */
    v = flow->values[v].frozen;
  return v >= 0 && p->fields[v] == field;
}

/* Adds all reads of the components of a slice. */
static ambit_status find_needs(ambit_program *p, const ambit__cycle *c, ambit__halo_slice *slice)
{
  const ambit__flow *flow = c ? &c->flow : NULL;
  const int n = flow ? flow->nstages : (int)p->nsteps;

  for (int k = 0; k < n; k++) {
    const size_t step = flow ? flow->stages[k].step : (size_t)k;
    const ambit__step *s = &p->steps[step];
    ambit__need what = {.region = p->applies[step].region};

    if (s->kind != STEP_APPLY || ambit__box_is_empty(&what.region)) continue;
    for (int d = 0; flow && d < AMBIT_MAX_DIMS; d++) {
      what.beyond.lo[d] = flow->stages[k].beyond.n[d][0];
      what.beyond.hi[d] = flow->stages[k].beyond.n[d][1];
    }
    for (int i = 0; i < s->n; i++) {
      const ambit_field *f = s->args[i].field;

      if (flow ? !reads_first(p, flow, k, i, slice->field) : f != slice->field) continue;
      if (flow) what.boundaries = ambit__field_boundaries(f, slice->first);
      what.region = ambit__box_project(&p->applies[step].region, f->dropped);
      AMBIT_TRY(
          add_param(p, &s->kernel->rule->params[i], &what, ambit__field_closes_rows(p, f), slice));
    }
  }
  return AMBIT_OK;
}

/* ---- slices ---- */

static bool same_needs(const ambit__needs *a, const ambit__needs *b)
{
  return ambit__needs_cover(a, b) && ambit__needs_cover(b, a);
}

/* Adds components; joins them to the last slice if they are read alike. */
static ambit_status add_component(ambit_program *p, const ambit__cycle *c, ambit__field_halo *h,
                                  int first, int count)
{
  ambit__halo_slice *last = h->nslices ? &h->slices[h->nslices - 1] : NULL;
  ambit__halo_slice *new = &h->slices[h->nslices];
  ambit_status s;

  *new = (ambit__halo_slice){.field = h->field,
                             .first = first,
                             .count = count,
                             .boundaries =
                                 c ? h->boundaries : ambit__field_boundaries(h->field, first)};
  new->changing = new->boundaries;
  new->has_ghosts = !c;
  s = find_needs(p, c, new);
  if (!s && last && last->first + last->count == first && same_needs(&last->needs, &new->needs) &&
      ambit__boundaries_equal(last->boundaries, new->boundaries)) {
    last->count += count;
    ambit__needs_free(&new->needs);
  } else if (!s && new->needs.n) {
    h->nslices++;
  } else {
    ambit__needs_free(&new->needs);
  }
  return s;
}

static ambit_status find_slices(ambit_program *p, const ambit__cycle *cycle, ambit__field_halo *h)
{
  const int n = h->field->components;
  const bool together = h->field->order == AMBIT_AOS;

  AMBIT_NEW(ambit__program_errors(p), h->slices, (size_t)n);
  for (int c = 0; c < n; c += together ? n : 1)
    AMBIT_TRY(add_component(p, cycle, h, c, together ? n : 1));
  return AMBIT_OK;
}

static ambit__halo_spec spec_of(const ambit_program *p, const ambit__halo_slice *slice, bool all)
{
  const ambit_grid *g = p->grid;

  return (ambit__halo_spec){.grid = &g->box,
                            .parts = g->parts,
                            .nparts = g->nparts,
                            .boundaries = slice->boundaries,
                            .needs = slice->needs.list,
                            .nneeds = slice->needs.n,
                            .mine = all ? NULL : g->mine};
}

/* The transfers of a profile: each part gets cells from one of the copies. */
static void choose_copies(const ambit_field *f, ambit__halo *h)
{
  size_t kept = 0;

  for (size_t i = 0; i < h->count; i++)
    if (ambit__field_sends(f, h->transfers[i].from, h->transfers[i].to))
      h->transfers[kept++] = h->transfers[i];
  h->count = kept;
}

/* The halo of a profile is that of a grid with its axes, whose parts are its own, with copies. */
static ambit_status make_profile(const ambit_program *p, const ambit__halo_slice *slice,
                                 ambit__halo_spec spec, ambit__halo *halo)
{
  const ambit_field *f = slice->field;
  const ambit__box cells = ambit__field_box(f);
  ambit__box *parts = ambit__new(ambit__program_errors(p), (size_t)p->grid->nparts, sizeof *parts);
  ambit_status s = parts ? AMBIT_OK : AMBIT_ENOMEM;

  *halo = (ambit__halo){0};
  for (int i = 0; parts && i < p->grid->nparts; i++)
    parts[i] = ambit__field_part(f, i);
  spec.grid = &cells;
  spec.parts = parts;
  if (!s) s = ambit__halo_make(ambit__program_errors(p), &spec, halo);
  if (!s) choose_copies(f, halo);
  free(parts);
  return s;
}

ambit_status ambit__halo_slice_make(const ambit_program *p, const ambit__halo_slice *slice,
                                    bool all, ambit__halo *halo)
{
  const ambit__halo_spec spec = spec_of(p, slice, all);

  if (slice->field->dropped) return make_profile(p, slice, spec, halo);
  return ambit__halo_make(ambit__program_errors(p), &spec, halo);
}

/* ---- halos ---- */

/* Whether the halo of some part depends on own cells of any part. Considers all parts of all
 * processes, since they must agree on whether there is an exchange and on its tag. */
static bool varies(const ambit_program *p, const ambit__halo_slice *slice)
{
  const ambit__boundaries *b = slice->boundaries;

  for (int i = 0; i < p->grid->nparts; i++) {
    const ambit__reach *r = &slice->halo.reaches[i];
    const ambit__box own = ambit__field_part(slice->field, i);

    if (ambit__box_is_empty(&own)) continue;
    if (!ambit__box_equal(&r->given, &own)) return true;
    for (int d = 0; d < p->grid->box.ndims; d++) {
      if (r->reach.lo[d] < r->given.lo[d] && b->kind[d][0] != AMBIT_CONSTANT) return true;
      if (r->reach.hi[d] > r->given.hi[d] && b->kind[d][1] != AMBIT_CONSTANT) return true;
    }
  }
  return false;
}

/* Whether no part reads beyond its own cells. */
static bool is_nothing(const ambit_program *p, const ambit__halo_slice *slice)
{
  for (int i = 0; i < p->grid->nparts; i++) {
    const ambit__box own = ambit__field_part(slice->field, i);

    if (!ambit__box_is_empty(&own) && !ambit__box_equal(&slice->halo.reaches[i].reach, &own))
      return false;
  }
  return true;
}

static void free_slice(ambit__halo_slice *slice)
{
  ambit__copies_forget(slice);
  ambit__halo_free(&slice->halo);
  ambit__needs_free(&slice->needs);
}

static void count_active(const ambit_program *p, ambit__halo *h)
{
  for (size_t i = 0; p->grid->active && i < h->count; i++)
    h->transfers[i].cells = ambit__active_count(p->grid->active, &h->transfers[i].box);
}

/* Makes the halos of all slices and removes empty ones. */
static ambit_status make_slices(ambit_program *p, ambit__field_halo *h)
{
  int kept = 0;

  for (int i = 0; i < h->nslices; i++) {
    AMBIT_TRY(ambit__halo_slice_make(p, &h->slices[i], false, &h->slices[i].halo));
    count_active(p, &h->slices[i].halo);
  }
  for (int i = 0; i < h->nslices; i++)
    if (is_nothing(p, &h->slices[i])) {
      free_slice(&h->slices[i]);
    } else {
      h->varies |= varies(p, &h->slices[i]);
      h->slices[kept++] = h->slices[i];
    }
  h->nslices = kept;
  return AMBIT_OK;
}

ambit_status ambit__field_halo_make(ambit_program *p, const ambit__cycle *c, ambit_field *field,
                                    ambit__field_halo *h)
{
  *h = (ambit__field_halo){.field = field,
                           .boundaries = c ? &c->boundaries : &field->boundaries,
                           .id = ++p->grid->context->last_id};
  AMBIT_TRY(find_slices(p, c, h));
  return make_slices(p, h);
}

/* ---- all halos ---- */

ambit__field_halo *ambit__halos_find(const ambit__halos *halos, const ambit_field *f)
{
  for (int i = 0; i < halos->n; i++)
    if (halos->list[i].field == f) return &halos->list[i];
  return NULL;
}

ambit_status ambit__halos_make(ambit_program *p, const ambit__cycle *c, ambit__halos *halos)
{
  *halos = (ambit__halos){
      ambit__new(ambit__program_errors(p), (size_t)p->nfields, sizeof *halos->list), 0, NULL};
  if (!halos->list) return AMBIT_ENOMEM;
  if (!ambit__can(p->grid->context->engines[0].device->backend, ghosts)) return AMBIT_OK;
  if (p->grid->active && p->grid->nparts == 1) return AMBIT_OK;
  for (int i = 0; i < p->nfields; i++) {
    ambit__field_halo *h = &halos->list[halos->n++];

    AMBIT_TRY(ambit__field_halo_make(p, c, p->fields[i], h));
    if (h->nslices) continue;
    free(h->slices);
    halos->n--;
  }
  return c ? AMBIT_OK : ambit__halos_keep_constants(p, halos);
}

void ambit__halos_free(ambit__halos *halos)
{
  for (int i = 0; i < halos->n; i++) {
    for (int k = 0; k < halos->list[i].nslices; k++)
      free_slice(&halos->list[i].slices[k]);
    free(halos->list[i].slices);
  }
  free(halos->list);
  *halos = (ambit__halos){0};
}

/* Whether slices of h contain all reads of another slice, for all of its components. */
static bool covers_slice(const ambit__field_halo *h, const ambit__halo_slice *slice)
{
  int next = slice->first; /* the components before it are covered */

  for (int i = 0; i < h->nslices; i++) {
    const ambit__halo_slice *a = &h->slices[i];

    if (a->first <= next && a->first + a->count > next &&
        ambit__needs_cover(&a->needs, &slice->needs) &&
        ambit__boundaries_equal(a->boundaries, slice->boundaries))
      next = a->first + a->count;
  }
  return next >= slice->first + slice->count;
}

bool ambit__field_halo_covers(const ambit__field_halo *a, const ambit__field_halo *b)
{
  if (a == b) return true;
  if (!ambit__boundaries_equal(a->boundaries, b->boundaries)) return false;
  for (int i = 0; i < b->nslices; i++)
    if (!covers_slice(a, &b->slices[i])) return false;
  return true;
}

ambit__box ambit__field_halo_reach(const ambit__field_halo *h, int part)
{
  ambit__box reach = ambit__field_part(h->field, part);

  for (int i = 0; !ambit__box_is_empty(&reach) && i < h->nslices; i++)
    reach = ambit__box_hull(&reach, &h->slices[i].halo.reaches[part].reach);
  return reach;
}
