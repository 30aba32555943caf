/* SPDX-License-Identifier: BSD-3-Clause */
/* host_bounds.c - values for the cells among the runs of a sparse grid that have none of their own:
 * inactive cells, and cells beyond the grid.
 *
 * Constants are written when a buffer is first read with these boundaries, and stay: kernels store
 * to active cells only. Copies of cells are renewed before every launch.
 */
#include "device/bounds.h"
#include "device/host.h"
#include "grid/constants.h"

#include <stdalign.h>
#include <string.h>

/* The memory of a field. Lengths are in bytes. */
typedef struct field {
  const ambit__active *active;
  const ambit__boundaries *bounds;
  ambit_type type;
  unsigned char *base;
  size_t size;    /* of a value */
  int64_t values; /* in a cell, side by side */
  int64_t planes; /* of components, and the distance between them */
  int64_t component;
} field;

static field field_of(const ambit__store *s, const ambit__active *active,
                      const ambit__boundaries *bounds)
{
  const ambit__layout *l = &s->layout;
  const bool together = l->order == AMBIT_AOS;
  const size_t size = ambit_type_size(l->type);

  return (field){.active = active,
                 .bounds = bounds,
                 .type = l->type,
                 .base = ambit__host_base(s->buffer) + (size_t)l->origin * size,
                 .size = size,
                 .values = together ? l->components : 1,
                 .planes = together ? 1 : l->components,
                 .component = l->component * (int64_t)size};
}

/* Sets the cells from..to - 1, all their components. */
static void set(const field *f, int64_t from, int64_t to, const unsigned char *value)
{
  for (int64_t c = 0; c < f->planes; c++) {
    unsigned char *at = f->base + c * f->component + from * f->values * (int64_t)f->size;

    for (int64_t i = 0; i < (to - from) * f->values; i++)
      memcpy(at + i * (int64_t)f->size, value, f->size);
  }
}

/* A buffer is 0 when it is made, as most constants are: their cells, as many as the runs have
 * beside them, are not set again. Sets may have cells of earlier ones. */
static void set_constants(const field *f, bool is_new)
{
  static const unsigned char nought[8];

  for (int k = 0; k < ambit__constants_sets(f->active); k++) {
    const double number = ambit__constants_value(f->active, f->bounds, k);
    alignas(8) unsigned char value[8] = {0};

    ambit__value_store(value, f->type, ambit__value_of(number, f->type));
    if (is_new && !memcmp(value, nought, sizeof value)) continue;
    is_new = false;
    for (int64_t i = 0, from, to; ambit__constants_next(f->active, k, &i, &from, &to);)
      set(f, from, to, value);
  }
}

static void copy_edges(const field *f, const ambit__edges *e)
{
  const size_t bytes = (size_t)f->values * f->size;

  for (int64_t c = 0; c < f->planes; c++) {
    unsigned char *plane = f->base + c * f->component;

    for (int64_t i = 0; i < e->n; i++)
      memcpy(plane + (size_t)e->moves[2 * i] * bytes, plane + (size_t)e->moves[2 * i + 1] * bytes,
             bytes);
  }
}

/* n components with a view. */
static void bound(const ambit__store *store, const ambit__chunks *chunks, int view, int first,
                  int n)
{
  const ambit__store slice = {ambit__layout_slice(&store->layout, first, n), store->buffer};
  const ambit__boundaries *b = &chunks->form->views[view];
  const field f = field_of(&slice, chunks->active, b);

  if (!ambit__bounds_are(store->buffer, first, n, b)) {
    set_constants(&f, ambit__bounds_are_new(store->buffer, first, n));
    ambit__bounds_note(store->buffer, first, n, b);
  }
  copy_edges(&f, &chunks->edges[view]);
}

void ambit__host_bounds(ambit__store *store, const ambit__chunks *chunks, int param)
{
  const ambit__chunk_form *form = chunks->form;

  for (int c = 0, n; c < store->layout.components; c += n) {
    n = ambit__chunk_form_alike(form, param, c, store->layout.components);
    bound(store, chunks, ambit__chunk_form_of(form, param, c), c, n);
  }
}
