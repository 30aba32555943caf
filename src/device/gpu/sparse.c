/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse.c - launches on sparse grids: the cells, assigned to threads (grid/assignment.h), and
 * values for the cells beside runs.
 *
 * Constants, of inactive cells and faces, are set when a buffer is first read with these
 * boundaries. The host waits for that, so that launches in other queues find them. Copies of cells
 * beyond the ends of rows are renewed before each launch: those that its box reads, because others
 * may depend on messages that have not arrived.
 */
#include "device/bounds.h"
#include "device/gpu/gpu.h"
#include "device/team.h"
#include "grid/assignment.h"
#include "grid/constants.h"

#include "base/memory.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ---- */

static ambit_status upload(ambit__gpu_device *d, const void *table, size_t bytes,
                           ambit__gpu_memory **memory)
{
  return bytes ? ambit__gpu_upload(d, table, bytes, memory) : AMBIT_OK;
}

enum { MANY = 1 << 20 }; /* cells of a list that take longer to assign than threads to start */

/* Assigns cells: many of a list with all cores. */
static ambit_status assign_cells(ambit__errors *errors, const ambit__chunks *c,
                                 const ambit__plan *p, int axes, ambit__assignment *assignment)
{
  const bool many = c->form->list && c->cells >= MANY;
  ambit__team team = {0};
  ambit_status s;

  *assignment = (ambit__assignment){0};
  if (many) AMBIT_TRY(ambit__team_open(errors, &team));
  s = ambit__assignment_make(errors, c, p->wide, p->rows, axes, many ? &team : NULL, assignment);
  ambit__team_close(&team);
  return s;
}

static ambit_status upload_all(ambit__gpu_device *d, const ambit__plan *p, int axes,
                               ambit__gpu_assigned *t)
{
  ambit__assignment assignment;
  ambit_status s = assign_cells(d->head.errors, t->chunks, p, axes, &assignment);
  const size_t words = (size_t)assignment.words * sizeof *assignment.lines;
  const size_t cell = (size_t)assignment.cell_words * sizeof *assignment.cells;
  const int views = t->chunks->form->nviews;

  t->units = assignment.units;
  t->first = assignment.first;
  if (!s)
    s = upload(d, assignment.groups, (size_t)assignment.ngroups * sizeof *assignment.groups,
               &t->groups);
  if (!s) s = upload(d, assignment.lines, (size_t)assignment.nlines * words, &t->lines);
  if (!s) s = upload(d, assignment.cells, (size_t)assignment.pitch * cell, &t->cells);
  ambit__assignment_free(&assignment);
  t->views = views;
  t->edges = ambit__new(d->head.errors, (size_t)views + 1, sizeof *t->edges);
  t->nedges = ambit__new(d->head.errors, (size_t)views + 1, sizeof *t->nedges);
  if (!s && (!t->edges || !t->nedges)) s = AMBIT_ENOMEM;
  for (int v = 0; !s && t->units && v < views; v++) {
    const ambit__edges *e = &t->chunks->edges[v];

    t->nedges[v] = e->n;
    s = upload(d, e->moves, (size_t)e->n * 2 * sizeof *e->moves, &t->edges[v]);
  }
  return s;
}

void ambit__gpu_assigned_free(ambit__gpu_device *d, ambit__gpu_assigned *list)
{
  while (list) {
    ambit__gpu_assigned *next = list->next;

    if (list->groups) d->driver->release(list->groups);
    if (list->lines) d->driver->release(list->lines);
    if (list->cells) d->driver->release(list->cells);
    for (int v = 0; list->edges && v < list->views; v++)
      if (list->edges[v]) d->driver->release(list->edges[v]);
    free(list->edges);
    free(list->nedges);
    free(list);
    list = next;
  }
}

ambit_status ambit__gpu_assigned_get(ambit__gpu_device *d, const ambit__launch *l,
                                     const ambit__plan *p, int axes, ambit__gpu_assigned **list,
                                     ambit__gpu_assigned **assigned)
{
  ambit__gpu_assigned *t;
  ambit_status s;

  for (t = *list; t; t = t->next)
    if (t->chunks == l->chunks) {
      *assigned = t;
      return AMBIT_OK;
    }
  AMBIT_NEW(d->head.errors, t, 1);
  t->chunks = l->chunks;
  s = upload_all(d, p, axes, t);
  if (s) {
    ambit__gpu_assigned_free(d, t);
    return s;
  }
  t->next = *list;
  *assigned = *list = t;
  return AMBIT_OK;
}

/* ---- constants ---- */

static ambit_status set_list(ambit__gpu_lane *lane, const ambit__store *store,
                             const ambit__active *a, int set, const unsigned char *value)
{
  ambit__gpu_list list = {0};
  int64_t i = 0, from, to;
  ambit_status s = AMBIT_OK;

  while (!s && ambit__constants_next(a, set, &i, &from, &to))
    s = ambit__gpu_list_add(lane->head.device->errors, &list, from, 0, to - from);
  if (!s) s = ambit__gpu_runs_fill(lane, store, &list, value);
  ambit__gpu_list_free(&list);
  return s;
}

/* A buffer is 0 when it is made, as most constants are: their cells, a list as long as the runs,
 * are not set again. Sets may have cells of earlier ones. */
static ambit_status set_constants(ambit__gpu_lane *lane, const ambit__store *store,
                                  const ambit__active *a, const ambit__boundaries *b, bool is_new)
{
  static const unsigned char nought[8];
  const ambit_type type = store->layout.type;

  for (int k = 0; k < ambit__constants_sets(a); k++) {
    alignas(8) unsigned char value[8] = {0};

    ambit__value_store(value, type, ambit__value_of(ambit__constants_value(a, b, k), type));
    if (is_new && !memcmp(value, nought, sizeof value)) continue;
    is_new = false;
    AMBIT_TRY(set_list(lane, store, a, k, value));
  }
  return AMBIT_OK;
}

/* ---- before a launch ---- */

static ambit_status copy_edges(ambit__gpu_lane *lane, const ambit__store *store,
                               const ambit__gpu_assigned *t, int view)
{
  const ambit__layout *l = &store->layout;
  const int64_t components = l->components;
  const ambit__gpu_arg args[] = {ambit__gpu_arg_memory(ambit__gpu_memory_of(store->buffer)),
                                 ambit__gpu_arg_number(&l->origin),
                                 ambit__gpu_arg_number(&l->stride[l->own.ndims - 1]),
                                 ambit__gpu_arg_number(&l->component),
                                 ambit__gpu_arg_memory(t->edges[view]),
                                 ambit__gpu_arg_number(&t->nedges[view]),
                                 ambit__gpu_arg_number(&components)};
  ambit__gpu_moves *moves;

  AMBIT_TRY(ambit__gpu_moves_get(lane->device, l->type, KIT_RUNS, &moves));
  return ambit__gpu_moves_run(lane, moves->pairs, t->nedges[view],
                              (int)(sizeof args / sizeof *args), args);
}

/* n components with a view. */
static ambit_status bound(ambit__gpu_lane *lane, const ambit__store *store,
                          const ambit__gpu_assigned *t, int view, int first, int n)
{
  const ambit__store slice = {ambit__layout_slice(&store->layout, first, n), store->buffer};
  const ambit__boundaries *b = &t->chunks->form->views[view];

  if (!ambit__bounds_are(store->buffer, first, n, b)) {
    AMBIT_TRY(set_constants(lane, &slice, t->chunks->active, b,
                            ambit__bounds_are_new(store->buffer, first, n)));
    AMBIT_TRY(lane->driver->queue_sync(lane->queue));
    ambit__bounds_note(store->buffer, first, n, b);
  }
  return t->nedges[view] ? copy_edges(lane, &slice, t, view) : AMBIT_OK;
}

ambit_status ambit__gpu_bounds(ambit__gpu_lane *lane, const ambit__launch *l,
                               const ambit__gpu_assigned *t)
{
  const ambit__chunk_form *form = l->chunks->form;

  for (int i = 0; i < l->nargs; i++) {
    const ambit__store *store = l->args[i].store;

    for (int c = 0, n; form->view[i] && c < store->layout.components; c += n) {
      n = ambit__chunk_form_alike(form, i, c, store->layout.components);
      AMBIT_TRY(bound(lane, store, t, ambit__chunk_form_of(form, i, c), c, n));
    }
  }
  return AMBIT_OK;
}
