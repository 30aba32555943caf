/* SPDX-License-Identifier: BSD-3-Clause */
/* shape.h - random layouts of fields, with ghost cells and boundaries. */
#ifndef AMBIT_TESTS_DEVICE_SHAPE_H
#define AMBIT_TESTS_DEVICE_SHAPE_H

#include "grid/boundary.h"
#include "grid/layout.h"
#include "kernel/value.h"
#include "support/draw.h"
#include "support/test.h"

typedef struct shape {
  int64_t extents[AMBIT_MAX_DIMS];
  int low[AMBIT_MAX_DIMS], high[AMBIT_MAX_DIMS]; /* layers of ghost cells */
  ambit__boundaries b;
} shape;

static void draw_axis(shape *s, int d, ambit__layout *l)
{
  /* integers cannot be antisymmetric, the last kind */
  const int kinds = AMBIT_ANTISYMMETRIC + (ambit__type_is_real(l->type) ? 1 : 0);

  s->extents[d] = 1 + draw(draw(4) ? 4 : 9);
  s->low[d] = (int)draw(draw(8) ? 3 : 12);
  s->high[d] = (int)draw(draw(8) ? 3 : 12);
  l->margin_lo[d] = s->low[d] + draw(2);
  l->margin_hi[d] = s->high[d] + draw(2);
  for (int side = 0; side < 2; side++) {
    s->b.kind[d][side] = (ambit_boundary)draw(kinds);
    s->b.value[d][side] = (double)draw(1000) - 300.25;
  }
}

/* Of at most so many dimensions; makes the layout too. */
static shape draw_shape(uint64_t seed, int most, ambit__layout *l)
{
  shape s = {.b = {.inactive = AMBIT_NONE}};
  int ndims;

  state = seed * 0x9e3779b97f4a7c15u;
  ndims = 1 + (int)draw(most);
  *l = (ambit__layout){.type = (ambit_type)draw(AMBIT_BF16 + 1),
                       .components = 1 + (int)draw(3),
                       .order = (ambit_order)draw(2)};
  for (int d = 0; d < ndims; d++)
    draw_axis(&s, d, l);
  l->own = ambit__box_of_extents(ndims, s.extents);
  CHECK(ambit__layout_make(l));
  return s;
}

/* The own cells of a layout and its ghost cells. */
static ambit__box reach_of(const shape *s, const ambit__layout *l)
{
  ambit__box b = l->own;

  for (int d = 0; d < b.ndims; d++) {
    b.lo[d] -= s->low[d];
    b.hi[d] += s->high[d];
  }
  return b;
}

#endif
