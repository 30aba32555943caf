/* SPDX-License-Identifier: BSD-3-Clause */
/* points.c - places in a grid, and the values of fields and series that people need with them. */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <math.h>
#include <stdlib.h>

/* ---- points ---- */

static ambit_points *begin(ambit_grid *g, int64_t n, bool given)
{
  ambit_points *p;

  if (!g || ambit__failed(g->context)) return NULL;
  if (n < 1 || !given || g->active) {
    ambit__raise(&g->context->errors,
                 g->active && given && n >= 1 ? AMBIT_EUNSUPPORTED : AMBIT_EINVAL,
                 g->active && given && n >= 1
                     ? "points need a dense grid, and this one is sparse"
                     : "points need at least one place, and its coordinates or weights");
    return NULL;
  }
  p = ambit__new(&g->context->errors, 1, sizeof *p);
  if (!p) return NULL;
  p->grid = g;
  ambit__list_add(&g->points, &p->link, p);
  return p;
}

ambit_points *ambit_points_create(ambit_grid *g, int64_t n, const double *coordinates,
                                  ambit_interpolation how)
{
  ambit_points *p = begin(g, n, coordinates != NULL);

  if (!p) return NULL;
  p->kind = how == AMBIT_LINEAR ? POINT_LINEAR : POINT_NEAREST;
  if ((how != AMBIT_LINEAR && how != AMBIT_NEAREST &&
       ambit__raise(&g->context->errors, AMBIT_EINVAL,
                    "%d is not an interpolation of points; "
                    "give AMBIT_NEAREST or AMBIT_LINEAR",
                    (int)how)) ||
      ambit__points_place(&g->context->errors, &g->box, n, coordinates, p->kind, &p->set)) {
    ambit_points_destroy(p);
    return NULL;
  }
  return p;
}

ambit_points *ambit_points_create_weighted(ambit_grid *g, int64_t n, const int64_t *first,
                                           const int64_t *width, const double *weights)
{
  ambit_points *p = begin(g, n, first && width && weights);

  if (!p) return NULL;
  p->is_weighted = true;
  if (ambit__points_give(&g->context->errors, &g->box, n, first, width, weights, &p->set)) {
    ambit_points_destroy(p);
    return NULL;
  }
  return p;
}

ambit_status ambit_points_move(ambit_points *p, const double *coordinates)
{
  ambit__errors *errors;
  ambit__points set;
  ambit_status s;

  if (!p || ambit__failed(p->grid->context))
    return p ? p->grid->context->errors.status : AMBIT_EINVAL;
  errors = &p->grid->context->errors;
  AMBIT_CHECK(coordinates, errors, AMBIT_EINVAL, "ambit_points_move: the coordinates are NULL");
  AMBIT_CHECK(!p->is_weighted, errors, AMBIT_EINVAL,
              "points can be moved to other coordinates if they were created with some; those with "
              "weights of their own cannot");
  s = ambit__points_place(errors, &p->grid->box, p->set.n, coordinates, p->kind, &set);
  if (s) {
    ambit__points_free(&set);
    return s;
  }
  ambit__points_free(&p->set);
  p->set = set;
  if (p->grid->dependents) p->grid->dependents->moved(p->grid, p);
  return AMBIT_OK;
}

void ambit_points_destroy(ambit_points *p)
{
  if (!p || ambit__object_check_unused(p->grid->context, p, "points", "")) return;
  ambit__object_gone(p->grid->context, p);
  ambit__points_free(&p->set);
  ambit__list_remove(&p->link);
  free(p);
}

int64_t ambit_points_count(const ambit_points *p)
{
  return p ? p->set.n : 0;
}

/* ---- series, layers and differences ---- */

ambit_record *ambit_record_create_ricker(ambit *a, double frequency, double dt, int64_t rows,
                                         double amplitude)
{
  ambit_record *r = ambit_record_create(a, "ricker");
  double *values;

  if (!r) return NULL;
  if (rows < 1 || !(frequency > 0) || !(dt > 0)) {
    ambit__raise(
        &a->errors, AMBIT_EINVAL,
        "ambit_record_create_ricker: frequency %g, time step %g and %lld rows must all be positive",
        frequency, dt, (long long)rows);
    return NULL;
  }
  values = ambit__new(&a->errors, (size_t)rows, sizeof *values);
  for (int64_t i = 0; values && i < rows; i++) {
    const double t = 3.14159265358979323846 * (frequency * dt * (double)i - 1.2);

    values[i] = amplitude * (1 - 2 * t * t) * exp(-t * t);
  }
  if (!values || ambit_record_write(r, rows, 1, values)) r = NULL;
  free(values);
  return r;
}

typedef struct sponge {
  const ambit__box *box;
  unsigned faces;
  int layers;
  double strength;
} sponge;

static double sponge_value(const int64_t *index, int component, void *user)
{
  const sponge *s = user;
  double most = 0;

  (void)component;
  for (int d = 0; d < s->box->ndims; d++)
    for (int side = 0; side < 2; side++) {
      const int64_t cells = side ? s->box->hi[d] - 1 - index[d] : index[d];

      if (s->faces & AMBIT_FACE(d, side))
        most = fmax(most, (double)(s->layers - cells) / s->layers);
    }
  return s->strength * most * most;
}

ambit_status ambit_field_fill_sponge(ambit_field *f, unsigned faces, int layers, double strength)
{
  sponge s = {.faces = faces, .layers = layers, .strength = strength};
  char asked[120];

  if (ambit__field_failed(f)) return ambit__field_status(f);
  ambit__faces_print(faces, asked, sizeof asked);
  AMBIT_CHECK(layers >= 1, ambit__field_errors(f), AMBIT_EINVAL,
              "the absorbing layer of field '%s' has %d cells; it must have at least 1", f->name,
              layers);
  AMBIT_CHECK(
      faces && ambit__faces_fit(faces, f->grid->box.ndims), ambit__field_errors(f), AMBIT_EINVAL,
      "the absorbing layer of field '%s' is at %s, and the grid has %d axes: give AMBIT_LOW(0), "
      "AMBIT_ALL_FACES, ...",
      f->name, asked, f->grid->box.ndims);
  s.box = &f->grid->box;
  return ambit_field_fill(f, sponge_value, &s);
}
