/* SPDX-License-Identifier: BSD-3-Clause */
/* returns.c - steps that write neighbours: what a part wrote to its halo goes to the owners.
 *
 * The cells that the own cells of a part write, for one component, are the part moved by the target
 * of the component. Where they lie outside the part they are halo, or ghost cells of periodic
 * faces; each belongs to one cell of one part. These are transfers, as those of a halo, but from
 * the halo to own cells (docs/design/0020-in-place.md).
 */
#include "base/memory.h"
#include "runtime/program/program.h"

/* A component whose cells are to be returned. */
typedef struct returns {
  const ambit_program *p;
  const ambit__box *region; /* of the step */
  const ambit__boundaries *boundaries;
  const int *target;
  ambit__halo *halo;
} returns;

/* ---- transfers ---- */

/* The grid is repeated along periodic axes. The first of these images that cells lie in, along an
 * axis: where its cell 0 is. */
static int64_t first_along(const returns *r, const ambit__box *cells, int axis)
{
  int64_t image = 0;

  while (r->boundaries->kind[axis][0] == AMBIT_PERIODIC && image > cells->lo[axis])
    image -= r->p->grid->box.hi[axis];
  return image;
}

/* Steps to the next image; returns false after the last one. */
static bool next_image(const returns *r, const ambit__box *cells, int64_t *image)
{
  for (int d = cells->ndims - 1; d >= 0; d--) {
    image[d] += r->p->grid->box.hi[d];
    if (r->boundaries->kind[d][0] == AMBIT_PERIODIC && image[d] < cells->hi[d]) return true;
    image[d] = first_along(r, cells, d);
  }
  return false;
}

static ambit_status add_transfer(const returns *r, int from, int to, const ambit__box *box,
                                 const int64_t *image)
{
  ambit__transfer t = {.from = from, .to = to, .box = *box, .cells = ambit__box_volume(box)};
  ambit__halo *h = r->halo;

  for (int d = 0; d < box->ndims; d++)
    t.shift[d] = -image[d];
  AMBIT_TRY(
      ambit__make_room(ambit__program_errors(r->p), &h->transfers, h->count, &h->cap, sizeof t));
  h->transfers[h->count++] = t;
  return AMBIT_OK;
}

static bool is_zero(const int64_t *image, int ndims)
{
  for (int d = 0; d < ndims; d++)
    if (image[d]) return false;
  return true;
}

/* The cells that part `from` writes and part `to` owns. */
static ambit_status add_pair(const returns *r, int from, int to)
{
  const ambit_grid *g = r->p->grid;
  const ambit__box computed = ambit__box_intersect(&g->parts[from], r->region);
  const ambit__box written = ambit__box_shift(&computed, r->target);
  int64_t image[AMBIT_MAX_DIMS];

  if (ambit__box_is_empty(&computed) || (!g->mine[from] && !g->mine[to])) return AMBIT_OK;
  for (int d = 0; d < written.ndims; d++)
    image[d] = first_along(r, &written, d);
  do {
    const ambit__box there = ambit__box_move(&g->parts[to], image);
    const ambit__box box = ambit__box_intersect(&written, &there);

    if (ambit__box_is_empty(&box) || (from == to && is_zero(image, box.ndims))) continue;
    AMBIT_TRY(add_transfer(r, from, to, &box, image));
  } while (next_image(r, &written, image));
  return AMBIT_OK;
}

static ambit_status add_pairs(const returns *r)
{
  const ambit_grid *g = r->p->grid;

  AMBIT_NEW(ambit__program_errors(r->p), r->halo->reaches, (size_t)g->nparts);
  for (int to = 0; to < g->nparts; to++) {
    r->halo->reaches[to] = (ambit__reach){g->parts[to], g->parts[to]};
    for (int from = 0; from < g->nparts; from++)
      if (!ambit__box_is_empty(&g->parts[from]) && !ambit__box_is_empty(&g->parts[to]))
        AMBIT_TRY(add_pair(r, from, to));
  }
  return AMBIT_OK;
}

/* ---- fields ---- */

/* One slice per component that is written at a neighbour. */
static ambit_status add_field(ambit_program *p, const ambit__box *region, const ambit__param *q,
                              ambit_field *f)
{
  ambit__field_halo *h = &p->returns.list[p->returns.n++];

  *h = (ambit__field_halo){.field = f, .boundaries = &f->boundaries};
  AMBIT_NEW(ambit__program_errors(p), h->slices, (size_t)f->components + 1);
  for (int c = 0; c < f->components; c++) {
    ambit__halo_slice *slice = &h->slices[h->nslices];
    const returns r = {p, region, ambit__field_boundaries(f, c), ambit__param_target(q, c),
                       &slice->halo};

    if (!ambit__param_spreads(q, c)) continue;
    *slice = (ambit__halo_slice){
        .field = f, .source = f, .first = c, .count = 1, .boundaries = r.boundaries};
    h->nslices++;
    AMBIT_TRY(add_pairs(&r));
  }
  return AMBIT_OK;
}

static ambit_status add_step(ambit_program *p, size_t step)
{
  const ambit__step *s = &p->steps[step];

  p->applies[step].returns = p->returns.n;
  for (int i = 0; i < s->n; i++)
    if (s->kernel->rule->params[i].targets && s->args[i].field)
      AMBIT_TRY(
          add_field(p, &p->applies[step].region, &s->kernel->rule->params[i], s->args[i].field));
  p->applies[step].nreturns = p->returns.n - p->applies[step].returns;
  return AMBIT_OK;
}

static size_t count_fields(const ambit_program *p)
{
  size_t n = 0;

  for (size_t i = 0; i < p->nsteps; i++)
    n += (size_t)p->steps[i].n;
  return n;
}

/* A device that has no ghost cells stores everything where it belongs. */
ambit_status ambit__returns_make(ambit_program *p)
{
  AMBIT_NEW(ambit__program_errors(p), p->returns.list, count_fields(p) + 1);
  if (!ambit__can(p->grid->context->engines[0].device->backend, ghosts)) return AMBIT_OK;
  for (size_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].kind == STEP_APPLY && !ambit__box_is_empty(&p->applies[i].region))
      AMBIT_TRY(add_step(p, i));
  return AMBIT_OK;
}
