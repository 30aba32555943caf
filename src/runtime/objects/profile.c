/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.c - profiles: fields on some axes of their grid.
 *
 * A profile has one cell, 0, along the axes that it lacks, and stride 0, so that generated code
 * reads the same value from all cells there. A part stores the projection of its own cells:
 *
 *      parts of a grid     +---+---+      a profile on axis 0     |0|   |0|   parts 0 and 1 have
 *                          | 0 | 1 |                              | |   | |   copies of the same
 *                          +---+---+                              +-+   +-+   cells, so have 2
 *                          | 2 | 3 |                              |2|   |2|   and 3
 *                          +---+---+
 *
 * All copies of a cell hold the same bits. Those at the low end of the dropped axes are read and
 * saved; halos come from the copy of the part that has the first own cell along the dropped axes.
 */
#include "runtime/objects/objects.h"

ambit_status ambit__profile_check(ambit_grid *g, const char *name, unsigned axes, unsigned *dropped)
{
  const int n = g->box.ndims;
  unsigned kept = 0, both = 0;
  char asked[120];

  ambit__faces_print(axes, asked, sizeof asked);
  for (int d = 0; d < n; d++) {
    if ((axes & AMBIT_AXIS(d)) == AMBIT_AXIS(d)) kept |= 1u << d;
    both |= kept >> d & 1 ? AMBIT_AXIS(d) : 0;
  }
  AMBIT_CHECK(!g->active, &g->context->errors, AMBIT_EUNSUPPORTED,
              "field '%s' cannot be on some axes of a sparse grid; sums over its cells go to "
              "scalars or to fields of a dense grid",
              name ? name : "");
  AMBIT_CHECK(axes == AMBIT_ALL_FACES || axes == both, &g->context->errors, AMBIT_EINVAL,
              "field '%s' was asked for on %s; give axes of the grid, which has %d: "
              "AMBIT_AXIS(0) | AMBIT_AXIS(1), ..., or 0 for none",
              name ? name : "", asked, n);
  *dropped = axes == AMBIT_ALL_FACES ? 0 : (1u << n) - 1u - kept;
  return AMBIT_OK;
}

ambit__box ambit__field_owned(const ambit_field *f, int part)
{
  const ambit__box *own = &f->grid->parts[part];

  for (int d = 0; d < own->ndims; d++)
    if (f->dropped >> d & 1 && own->lo[d] > 0) return (ambit__box){.ndims = own->ndims};
  return ambit__field_part(f, part);
}

bool ambit__field_sends(const ambit_field *f, int from, int to)
{
  const ambit__box *a = &f->grid->parts[from], *b = &f->grid->parts[to];

  for (int d = 0; d < a->ndims; d++)
    if (f->dropped >> d & 1 && (b->lo[d] < a->lo[d] || b->lo[d] >= a->hi[d])) return false;
  return true;
}

ambit_status ambit__field_check_whole(const ambit_field *f, const char *why)
{
  AMBIT_CHECK(!f || !f->dropped, ambit__field_errors(f), AMBIT_EUNSUPPORTED,
              "field '%s' has only some axes of its grid, and %s", f->name, why);
  return AMBIT_OK;
}
