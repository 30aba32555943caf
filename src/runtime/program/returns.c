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

static bool is_zero(const int64_t *image, int ndims)
{
  for (int d = 0; d < ndims; d++)
    if (image[d]) return false;
  return true;
}

/* The cells that part `from` writes and part `to` owns. */
static ambit_status add_pair(const ambit_program *p, ambit__halo *h, const void *user, int from,
                             int to)
{
  const returns *r = user;
  const ambit_grid *g = p->grid;
  const ambit__box computed = ambit__box_intersect(&g->parts[from], r->region);
  const ambit__box written = ambit__box_shift(&computed, r->target);
  int64_t image[AMBIT_MAX_DIMS], back[AMBIT_MAX_DIMS];

  if (ambit__box_is_empty(&computed)) return AMBIT_OK;
  for (int d = 0; d < written.ndims; d++)
    image[d] = first_along(r, &written, d);
  do {
    const ambit__box there = ambit__box_move(&g->parts[to], image);
    const ambit__box box = ambit__box_intersect(&written, &there);

    for (int d = 0; d < box.ndims; d++)
      back[d] = -image[d];
    if (ambit__box_is_empty(&box) || (from == to && is_zero(image, box.ndims))) continue;
    AMBIT_TRY(ambit__transfers_add(p, h, from, to, &box, back));
  } while (next_image(r, &written, image));
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
    const returns r = {p, region, ambit__field_boundaries(f, c), ambit__param_target(q, c)};

    if (!ambit__param_spreads(q, c)) continue;
    *slice = (ambit__halo_slice){
        .field = f, .source = f, .first = c, .count = 1, .boundaries = r.boundaries};
    h->nslices++;
    AMBIT_TRY(ambit__transfers_make(p, &slice->halo, add_pair, &r));
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
