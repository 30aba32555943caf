/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c - views: every second cell of a field, as a field of a coarser grid.
 *
 * A view has the buffers of its base and a layout of its own: strides twice as long, and an origin
 * at one of the 2^n first cells. Parts of both grids are cut at the same places, so a part of the
 * view lies on the same part of the base. Fields that rotate change their buffers, and widened ones
 * their layout; views follow when a program that uses them is about to run (ambit__view_refresh).
 */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks ---- */

static bool is_half(const ambit__box *coarse, const ambit__box *fine)
{
  if (ambit__box_is_empty(coarse) || ambit__box_is_empty(fine))
    return ambit__box_is_empty(coarse) && ambit__box_is_empty(fine);
  for (int d = 0; d < fine->ndims; d++)
    if (2 * coarse->lo[d] != fine->lo[d] || 2 * coarse->hi[d] != fine->hi[d]) return false;
  return true;
}

static ambit_status check_grids(const ambit_grid *coarse, const ambit_field *f)
{
  const ambit_grid *fine = f->grid;
  char small[160], large[160];

  AMBIT_TRY(ambit__field_check_whole(f, "cannot have a view"));
  AMBIT_CHECK(
      !coarse->active && !f->grid->active, &coarse->context->errors, AMBIT_EUNSUPPORTED,
      "field '%s' cannot have a view: a grid is sparse, and every second one of its cells is "
      "not at equal distances in memory; values go from one grid to the other through "
      "arrays, with ambit_field_read and ambit_field_write",
      f->name);
  AMBIT_CHECK(fine->context == coarse->context && !f->base, &coarse->context->errors, AMBIT_EINVAL,
              "field '%s' cannot be viewed: it %s", f->name,
              f->base ? "is a view itself" : "belongs to another context");
  ambit__box_print(&coarse->box, small, sizeof small);
  ambit__box_print(&fine->box, large, sizeof large);
  AMBIT_CHECK(coarse->box.ndims == fine->box.ndims && is_half(&coarse->box, &fine->box),
              &coarse->context->errors, AMBIT_EINVAL,
              "a view of field '%s' needs a grid of half the extents of its own, %s, along every "
              "axis; the grid of the view is %s",
              f->name, large, small);
  for (int i = 0; i < fine->nparts; i++)
    AMBIT_CHECK(is_half(&coarse->parts[i], &fine->parts[i]), &coarse->context->errors, AMBIT_EINVAL,
                "field '%s' cannot be viewed: the two grids are cut at different places; create "
                "them with ambit_grid_create_nested",
                f->name);
  return AMBIT_OK;
}

static ambit_status check_first(const ambit_grid *coarse, const ambit_field *f,
                                const int64_t *first)
{
  bool is_cell = first != NULL;

  for (int d = 0; d < coarse->box.ndims && is_cell; d++)
    is_cell = first[d] == 0 || first[d] == 1;
  AMBIT_CHECK(is_cell, &coarse->context->errors, AMBIT_EINVAL,
              "a view of field '%s' starts at cell 0 or 1 of every axis", f->name);
  for (const ambit_field *v = f->views; v; v = v->next_view)
    AMBIT_CHECK(memcmp(v->first, first, (size_t)coarse->box.ndims * sizeof *first) != 0,
                &coarse->context->errors, AMBIT_EINVAL,
                "field '%s' has a view that starts at this cell already", f->name);
  return AMBIT_OK;
}

/* ---- views ---- */

static ambit__store store_of(const ambit_field *view, int part)
{
  const ambit_grid *g = view->grid;
  ambit__store s = view->base->stores[part];

  s.layout.own = g->parts[g->first + part];
  for (int d = 0; d < g->box.ndims; d++) {
    s.layout.origin += view->first[d] * s.layout.stride[d];
    s.layout.stride[d] *= 2;
    s.layout.margin_lo[d] = s.layout.margin_hi[d] = 0;
  }
  return s;
}

void ambit__view_refresh(ambit_field *f)
{
  for (int i = 0; f->base && i < f->grid->placement.n; i++)
    f->stores[i] = store_of(f, i);
}

void ambit__view_detach(ambit_field *f)
{
  ambit_field **at = &f->base->views;

  while (*at != f)
    at = &(*at)->next_view;
  *at = f->next_view;
}

/* "u[0][1]" */
static char *name_of(const ambit_field *base, const int64_t *first)
{
  char name[200];
  int n = snprintf(name, sizeof name, "%.100s", base->name);

  for (int d = 0; d < base->grid->box.ndims; d++)
    n += snprintf(name + n, sizeof name - (size_t)n, "[%d]", (int)first[d]);
  return ambit__strdup(ambit__field_errors(base), name);
}

ambit_field *ambit_field_create_view(ambit_grid *coarse, ambit_field *field, const int64_t *first)
{
  ambit_field *v;

  if (!coarse || ambit__failed(coarse->context)) return NULL;
  if (!field) {
    ambit__raise(&coarse->context->errors, AMBIT_EINVAL, "a view of no field was asked for");
    return NULL;
  }
  if (check_grids(coarse, field) || check_first(coarse, field, first)) return NULL;
  v = ambit__new(&coarse->context->errors, 1, sizeof *v);
  if (!v) return NULL;
  *v = (ambit_field){.grid = coarse,
                     .base = field,
                     .type = field->type,
                     .components = field->components,
                     .order = field->order,
                     .asked = field->asked,
                     .next_view = field->views};
  memcpy(v->first, first, (size_t)coarse->box.ndims * sizeof *first);
  v->name = name_of(field, first);
  v->stores = ambit__new(&coarse->context->errors, (size_t)coarse->placement.n, sizeof *v->stores);
  if (!v->name || !v->stores) {
    free(v->name);
    free(v->stores);
    free(v);
    return NULL;
  }
  field->views = v;
  ambit__view_refresh(v);
  ambit__list_add(&coarse->fields, &v->link, v);
  return v;
}
