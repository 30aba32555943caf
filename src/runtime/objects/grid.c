/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.c - grids and their partition into parts. */
#include "ambit_stream.h"
#include "base/memory.h"
#include "base/number.h"
#include "grid/partition.h"
#include "runtime/objects/scribe.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ambit_status check_extents(ambit *a, int ndims, const int64_t *extents)
{
  int64_t cells = 1;

  AMBIT_CHECK(ndims >= 1 && ndims <= AMBIT_MAX_DIMS, &a->errors, AMBIT_EINVAL,
              "a grid of %d dimensions was requested; it must have 1 to %d", ndims, AMBIT_MAX_DIMS);
  AMBIT_CHECK(extents, &a->errors, AMBIT_EINVAL, "the extents of a grid are NULL");
  for (int d = 0; d < ndims; d++) {
    AMBIT_CHECK(extents[d] >= 1, &a->errors, AMBIT_EINVAL,
                "extent %d of a grid is %" PRId64 "; it must be at least 1", d, extents[d]);
    AMBIT_CHECK(extents[d] <= INT64_MAX / 1024 / cells, &a->errors, AMBIT_EINVAL,
                "the grid is too large: its number of cells overflows (extent %d is %" PRId64 ")",
                d, extents[d]);
    cells *= extents[d];
  }
  return AMBIT_OK;
}

/* Parses a number of the option weights. Returns the start of the next one; NULL after the last. */
static const char *next_weight(ambit *a, const char *text, const char *at, double *weight)
{
  const char *end = ambit__number_scan(at, weight);

  if (end && *weight >= 0 && (!*end || (*end == ',' && end[1]))) return *end ? end + 1 : NULL;
  ambit__raise(
      &a->errors, AMBIT_EOPTION,
      "option weights is '%s'; it must be numbers of 0 or more, as in 1,0.5,2, or auto, or "
      "empty",
      text);
  return NULL;
}

ambit_status ambit__weights_check(ambit *a, const char *text)
{
  double weight, sum = 0;

  if (!*text || !strcmp(text, "auto")) return AMBIT_OK;
  for (const char *at = text; at && !a->errors.status; sum += weight)
    at = next_weight(a, text, at, &weight);
  AMBIT_CHECK(a->errors.status || (sum > 0 && isfinite(sum)), &a->errors, AMBIT_EOPTION,
              "option weights is '%s'; the sum of the numbers must be above 0 and finite", text);
  return a->errors.status;
}

/* Parses the option weights into one number per part. NULL: it has none. */
static ambit_status parse_weights(ambit *a, int nparts, double **weights)
{
  const char *text = a->settings.weights;
  int given = 0;

  *weights = NULL;
  if (!*text || !strcmp(text, "auto")) return AMBIT_OK;
  AMBIT_NEW(&a->errors, *weights, (size_t)nparts);
  for (const char *at = text; at;) {
    AMBIT_CHECK(given < nparts, &a->errors, AMBIT_EOPTION,
                "option weights is '%s'; the grid has only %d part%s%s", text, nparts,
                nparts == 1 ? "" : "s",
                a->shares ? ": slow devices may have been left out when the devices were opened, "
                            "before the option was set"
                          : "");
    at = next_weight(a, text, at, &(*weights)[given++]);
  }
  AMBIT_CHECK(a->errors.status || given == nparts, &a->errors, AMBIT_EOPTION,
              "option weights is '%s'; the grid has %d parts, and each needs a number", text,
              nparts);
  return a->errors.status;
}

/* The parts of a grid twice as fine as another one, cut at the same places. */
static void refine_parts(ambit_grid *g, const ambit_grid *coarser)
{
  for (int i = 0; i < g->nparts; i++) {
    g->parts[i] = coarser->parts[i];
    for (int d = 0; d < g->box.ndims; d++) {
      g->parts[i].lo[d] *= 2;
      g->parts[i].hi[d] *= 2;
    }
  }
}

ambit_status ambit__grid_cut(const ambit_grid *g, const double *weights, ambit__box *parts)
{
  ambit *a = g->context;
  ambit__cuts cuts;

  if (g->active) return ambit__grid_cut_active(g, g->active, g->split, weights, parts);
  ambit__cuts_parse(g->partition, &cuts); /* was checked when it was set */
  cuts.comm_cost = a->comm_cost;
  return ambit__partition_make(&a->errors, &g->box, a->placement.first[a->net->size], &cuts,
                               weights, parts);
}

static ambit_status make_weights(ambit_grid *g)
{
  ambit *a = g->context;
  const double *shares = ambit__weights_are_auto(a) ? a->shares : NULL; /* NULL: equal ones */
  const int n = a->placement.first[a->net->size];

  AMBIT_TRY(parse_weights(a, n, &g->weights));
  if (!g->weights && !shares) return AMBIT_OK;
  if (!g->weights) {
    AMBIT_NEW(&a->errors, g->weights, (size_t)n);
    memcpy(g->weights, shares, (size_t)n * sizeof *shares);
  }
  return AMBIT_OK;
}

/* More parts on the same devices, if those that they ask for would be too large. */
static ambit_status split_parts(ambit_grid *g)
{
  ambit *a = g->context;
  double *weights;

  g->split = ambit__split_for(a, (double)g->active->size, g->weights, 1);
  AMBIT_TRY(ambit__placement_split(a, g->split, &g->placement));
  AMBIT_TRY(ambit__weights_split(a, g->weights, 1, g->split, &weights));
  free(g->weights);
  g->weights = weights;
  return AMBIT_OK;
}

static ambit_status make_parts(ambit_grid *g, const ambit_grid *coarser)
{
  ambit *a = g->context;

  AMBIT_TRY(ambit__placement_copy(a, &g->placement));
  if (!coarser) AMBIT_TRY(make_weights(g));
  if (g->active) AMBIT_TRY(split_parts(g));
  g->nparts = g->placement.first[a->net->size];
  g->first = g->placement.first[a->net->rank];
  AMBIT_TRY(ambit__placement_parts(a, &g->placement, &g->parts, &g->mine));
  if (coarser) {
    refine_parts(g, coarser);
    return AMBIT_OK;
  }
  return ambit__grid_cut(g, g->weights, g->parts);
}

ambit_grid *ambit__grid_begin(ambit *a, int ndims, const int64_t *extents)
{
  ambit_grid *g;

  if (ambit__failed(a) || check_extents(a, ndims, extents) || ambit__engines_open(a)) return NULL;
  g = ambit__new(&a->errors, 1, sizeof *g);
  if (!g) return NULL;
  g->context = a;
  g->box = ambit__box_of_extents(ndims, extents);
  for (int d = 0; d < ndims; d++)
    g->spacing[d] = 1;
  g->partition = ambit__strdup(&a->errors, a->settings.partition);
  ambit__list_init(&g->fields);
  ambit__list_init(&g->programs);
  ambit__list_init(&g->streams);
  ambit__list_init(&g->points);
  ambit__list_add(&a->grids, &g->link, g);
  ambit__engines_tell_alone(a);
  return g;
}

ambit_grid *ambit__grid_end(ambit_grid *g, const ambit_grid *coarser)
{
  char doing[160], box[120];

  if (!g->active) g->turn = ambit__layout_turn(&g->box);
  if (g->partition && !make_parts(g, coarser)) ambit__grid_localise(g);
  ambit__box_print(&g->box, box, sizeof box);
  snprintf(doing, sizeof doing, "creates a %sgrid of the cells %s", g->active ? "sparse " : "",
           box);
  if (!ambit__meet(g->context, doing)) return g;
  ambit_grid_destroy(g);
  return NULL;
}

ambit_grid *ambit_grid_create(ambit *a, int ndims, const int64_t *extents)
{
  ambit_grid *g = ambit__grid_begin(a, ndims, extents);

  return g ? ambit__grid_end(g, NULL) : NULL;
}

static ambit_status check_levels(ambit *a, int ndims, const int64_t *extents, int levels)
{
  AMBIT_CHECK(levels >= 1 && levels <= 40, &a->errors, AMBIT_EINVAL,
              "%d nested grids were asked for; it must be 1 to 40", levels);
  AMBIT_TRY(check_extents(a, ndims, extents));
  for (int d = 0; d < ndims; d++)
    AMBIT_CHECK(extents[d] % (INT64_C(1) << (levels - 1)) == 0, &a->errors, AMBIT_EINVAL,
                "extent %d of nested grids is %lld; with %d levels it must be a multiple of %lld",
                d, (long long)extents[d], levels, 1LL << (levels - 1));
  return AMBIT_OK;
}

ambit_status ambit_grid_create_nested(ambit *a, int ndims, const int64_t *extents, int levels,
                                      ambit_grid **grids)
{
  int64_t size[AMBIT_MAX_DIMS];

  if (!a || !grids) return AMBIT_EINVAL;
  for (int i = 0; i < levels; i++)
    grids[i] = NULL;
  if (ambit__failed(a)) return a->errors.status;
  AMBIT_TRY(check_levels(a, ndims, extents, levels));
  for (int i = levels - 1; i >= 0; i--) {
    for (int d = 0; d < ndims; d++)
      size[d] = extents[d] >> i;
    grids[i] = ambit__grid_begin(a, ndims, size);
    if (grids[i]) grids[i] = ambit__grid_end(grids[i], i < levels - 1 ? grids[i + 1] : NULL);
    for (int k = i + 1; !grids[i] && k < levels; k++) {
      ambit_grid_destroy(grids[k]);
      grids[k] = NULL;
    }
    AMBIT_TRY(a->errors.status);
  }
  for (int i = 0; i < levels; i++)
    grids[i]->nested = true;
  return AMBIT_OK;
}

void ambit_grid_destroy(ambit_grid *g)
{
  if (!g || ambit__object_check_unused(g->context, g, "grid", "")) return;
  while (g->streams.next->owner)
    ambit_stream_destroy(g->streams.next->owner);
  while (g->programs.next->owner)
    ambit_program_destroy(g->programs.next->owner);
  while (g->points.next->owner)
    ambit_points_destroy(g->points.next->owner);
  while (g->fields.next->owner)
    ambit_field_destroy(g->fields.next->owner);
  ambit__list_remove(&g->link);
  if (g->active) ambit__scribe_wait(g->context); /* snapshots use it */
  free(g->partition);
  free(g->weights);
  ambit__active_free_all(g->active, g->local, g->placement.n);
  free(g->parts);
  free(g->mine);
  ambit__placement_free(&g->placement);
  free(g);
}

bool ambit__grid_cuts(const ambit_grid *g, int axis)
{
  for (int i = 0; i < g->nparts; i++)
    if (!ambit__box_is_empty(&g->parts[i]) &&
        (g->parts[i].lo[axis] != 0 || g->parts[i].hi[axis] != g->box.hi[axis]))
      return true;
  return false;
}

bool ambit__grid_on_first(const ambit_grid *g)
{
  bool first = g->context->net->size == 1;

  for (int i = 0; i < g->placement.n; i++)
    first &= g->placement.engine[i] == 0;
  return first;
}

ambit__engine *ambit__engine_of(const ambit_grid *g, int part)
{
  return &g->context->engines[g->placement.engine[part]];
}

void ambit__grid_changed(ambit_grid *g)
{
  if (g->dependents) g->dependents->changed(g);
}

/* Whether a function of the user is called on behalf of the object; NULL: of any of the grid. */
static bool is_in_use(const ambit_grid *g, const void *object)
{
  if (g->dependents && g->dependents->running(g, object)) return true;
  for (const ambit__link *l = g->fields.next; l->owner; l = l->next)
    if ((!object || l->owner == object) && ((const ambit_field *)l->owner)->is_held) return true;
  return false;
}

ambit_status ambit__object_check_unused(ambit *a, const void *object, const char *kind,
                                        const char *name)
{
  bool used = a->errors.telling;

  for (const ambit__link *l = a->grids.next; !used && l->owner; l = l->next)
    used = is_in_use(l->owner, l->owner == object ? NULL : object);
  AMBIT_CHECK(!used, &a->errors, AMBIT_EPROGRAM,
              "the %s%s%s cannot be destroyed by a function that Ambit calls while it uses it",
              kind, *name ? " " : "", name);
  return AMBIT_OK;
}

void ambit__object_gone(ambit *a, const void *object)
{
  for (ambit__link *i = a->grids.next; i->owner; i = i->next) {
    ambit_grid *g = i->owner;

    if (g->dependents) g->dependents->gone(g, object);
  }
}

int ambit__grid_process(const ambit_grid *g, int part)
{
  return ambit__placement_process(&g->placement, part);
}

int ambit_grid_ndims(const ambit_grid *g)
{
  return g ? g->box.ndims : 0;
}

int64_t ambit_grid_extent(const ambit_grid *g, int axis)
{
  return g && axis >= 0 && axis < g->box.ndims ? g->box.hi[axis] : 0;
}

ambit_status ambit_grid_geometry(ambit_grid *g, const double *origin, const double *spacing)
{
  if (!g || ambit__failed(g->context)) return g ? g->context->errors.status : AMBIT_EINVAL;
  for (int d = 0; d < g->box.ndims; d++) {
    AMBIT_CHECK(!origin || isfinite(origin[d]), &g->context->errors, AMBIT_EINVAL,
                "the origin of a grid along axis %d is %g; it must be finite", d, origin[d]);
    AMBIT_CHECK(!spacing || (isfinite(spacing[d]) && spacing[d] > 0), &g->context->errors,
                AMBIT_EINVAL, "the spacing of a grid along axis %d is %g; it must be above 0", d,
                spacing[d]);
  }
  for (int d = 0; d < g->box.ndims; d++) {
    g->origin[d] = origin ? origin[d] : 0;
    g->spacing[d] = spacing ? spacing[d] : 1;
  }
  return AMBIT_OK;
}
