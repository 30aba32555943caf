/* grid.c - index spaces. */
#include "base/memory.h"
#include "runtime/runtime.h"

#include <inttypes.h>
#include <stdlib.h>

static ambit_status check_extents(ambit *a, int ndims, const int64_t *extents)
{
  int64_t cells = 1;

  AMBIT_CHECK(ndims >= 1 && ndims <= AMBIT_MAX_DIMS, &a->errors, AMBIT_EINVAL,
              "a grid of %d dimensions was asked for; it must have 1 to %d", ndims, AMBIT_MAX_DIMS);
  AMBIT_CHECK(extents, &a->errors, AMBIT_EINVAL, "the extents of a grid are NULL");
  for (int d = 0; d < ndims; d++) {
    AMBIT_CHECK(extents[d] >= 1, &a->errors, AMBIT_EINVAL,
                "extent %d of a grid is %" PRId64 "; it must be at least 1", d, extents[d]);
    AMBIT_CHECK(extents[d] <= INT64_MAX / 1024 / cells, &a->errors, AMBIT_EINVAL,
                "a grid this large has more cells than can be counted (extent %d is %" PRId64 ")",
                d, extents[d]);
    cells *= extents[d];
  }
  return AMBIT_OK;
}

ambit_grid *ambit_grid_create(ambit *a, int ndims, const int64_t *extents)
{
  ambit_grid *g;

  if (ambit__failed(a) || check_extents(a, ndims, extents) || ambit__context_device(a)) return NULL;
  g = ambit__new(&a->errors, 1, sizeof *g);
  if (!g) return NULL;
  g->context = a;
  g->box = ambit__box_of_extents(ndims, extents);
  ambit__list_init(&g->fields);
  ambit__list_init(&g->programs);
  ambit__list_add(&a->grids, &g->link, g);
  return g;
}

void ambit_grid_destroy(ambit_grid *g)
{
  if (!g) return;
  while (g->programs.next->owner)
    ambit_program_destroy(g->programs.next->owner);
  while (g->fields.next->owner)
    ambit_field_destroy(g->fields.next->owner);
  ambit__list_remove(&g->link);
  free(g);
}

int ambit_grid_ndims(const ambit_grid *g)
{
  return g ? g->box.ndims : 0;
}

int64_t ambit_grid_extent(const ambit_grid *g, int axis)
{
  return g && axis >= 0 && axis < g->box.ndims ? g->box.hi[axis] : 0;
}
