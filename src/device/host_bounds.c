/* SPDX-License-Identifier: BSD-3-Clause */
/* host_bounds.c - values for the cells among the runs of a sparse grid that have none of their own:
 * inactive cells, and cells beyond the grid.
 *
 * Constants are written when a buffer is first read with these boundaries, and stay: kernels store
 * to active cells only. Copies of cells are renewed before every launch.
 */
#include "device/host.h"

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
static void set(const field *f, int64_t from, int64_t to, double number)
{
  alignas(8) unsigned char value[8];

  ambit__value_store(value, f->type, ambit__value_of(number, f->type));
  for (int64_t c = 0; c < f->planes; c++) {
    unsigned char *at = f->base + c * f->component + from * f->values * (int64_t)f->size;

    for (int64_t i = 0; i < (to - from) * f->values; i++)
      memcpy(at + i * (int64_t)f->size, value, f->size);
  }
}

/* The value beyond an end of a row whose cells have `number` there if that end has no constant. */
static double beyond(const field *f, int side, double number)
{
  const int last = f->active->box.ndims - 1;

  return f->bounds->kind[last][side] == AMBIT_CONSTANT ? f->bounds->value[last][side] : number;
}

static void set_section(const field *f, int k, double number)
{
  const ambit__active *a = f->active;
  const int64_t at = ambit__active_section(a, k);

  set(f, at - a->pad, at, beyond(f, 0, number));
  set(f, at, at + a->section, number);
  set(f, at + a->section, at + a->section + a->pad, beyond(f, 1, number));
}

/* Cells beyond the ends of rows, beside the runs that are there. */
static void set_ends(const field *f, double fill)
{
  const ambit__active *a = f->active;
  const int64_t extent = a->box.hi[a->box.ndims - 1];

  for (int64_t i = 0; i < a->n; i++) {
    const ambit__run *r = &a->runs[i];

    if (r->lo < a->pad && (!i || r[-1].row != r->row))
      set(f, r->at - r->lo - a->pad, r->at - r->lo, beyond(f, 0, fill));
    if (extent - r->hi < a->pad && (i + 1 == a->n || r[1].row != r->row))
      set(f, r->at + extent - r->lo, r->at + extent - r->lo + a->pad, beyond(f, 1, fill));
  }
}

static void set_constants(const field *f)
{
  const ambit__active *a = f->active;
  const double fill = f->bounds->inactive == AMBIT_CONSTANT ? f->bounds->fill : 0;
  int64_t end = ambit__active_section(a, 1 + 2 * (a->box.ndims - 1)) - a->pad;

  set_section(f, 0, fill);
  for (int d = 0; d < a->box.ndims - 1; d++)
    for (int side = 0; side < 2; side++)
      set_section(f, 1 + 2 * d + side, f->bounds->value[d][side]);
  for (int64_t i = 0; i < a->n; i++) {
    set(f, end, a->runs[i].at, fill);
    end = a->runs[i].at + a->runs[i].hi - a->runs[i].lo;
  }
  set(f, end, a->size, fill);
  set_ends(f, fill);
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

void ambit__host_bounds(ambit__store *store, const ambit__chunks *chunks, int view)
{
  const ambit__boundaries *b = &chunks->form->views[view];
  const field f = field_of(store, chunks->active, b);
  ambit__buffer *buffer = store->buffer;

  if (!buffer->bounded || !ambit__boundaries_equal(&buffer->bounds, b)) {
    set_constants(&f);
    buffer->bounds = *b;
    buffer->bounded = true;
  }
  copy_edges(&f, &chunks->edges[view]);
}
