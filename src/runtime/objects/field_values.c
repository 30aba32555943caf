/* SPDX-License-Identifier: BSD-3-Clause */
/* field_values.c - reads and writes the values of fields, on all parts and processes.
 *
 * Users see one grid. A box that is written is split by the parts, and each part stores its own
 * cells. A box that is read is assembled from all parts. Dense arrays are row-major, with
 * components last.
 */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20 }; /* bytes transferred to or from the device at a time */

size_t ambit__field_cell_bytes(const ambit_field *f)
{
  return (size_t)f->components * ambit_type_size(f->type);
}

int64_t ambit__field_piece_cells(const ambit_field *f)
{
  int64_t n = PIECE_BYTES / (int64_t)ambit__field_cell_bytes(f);
  const ambit__box box = ambit__field_box(f);
  const int64_t all = ambit__box_volume(&box);

  return n < 1 ? 1 : n < all ? n : all;
}

void *ambit__field_piece_new(const ambit_field *f)
{
  return ambit__new(ambit__field_errors(f), (size_t)ambit__field_piece_cells(f),
                    ambit__field_cell_bytes(f));
}

void ambit__field_changed(ambit_field *f)
{
  if (f->base) ambit__field_changed(f->base);
  ambit__view_refresh(f);
  f->given = f->news = true;
  f->changes++;
  f->sets++;
  f->ghosts.stale = true;
  f->likeness.id = 0;
}

/* The user's box lo..hi. A NULL bound is that of the grid. */
static ambit_status user_box(const ambit_field *f, const int64_t *lo, const int64_t *hi,
                             ambit__box *box)
{
  const ambit__box all = ambit__field_box(f);
  char asked[160], have[160];

  *box = all;
  for (int d = 0; d < box->ndims; d++) {
    if (lo) box->lo[d] = lo[d];
    if (hi) box->hi[d] = hi[d];
  }
  ambit__box_print(box, asked, sizeof asked);
  ambit__box_print(&all, have, sizeof have);
  for (int d = 0; d < box->ndims; d++)
    AMBIT_CHECK(box->lo[d] >= 0 && box->lo[d] <= box->hi[d] && box->hi[d] <= all.hi[d],
                ambit__field_errors(f), AMBIT_EINVAL,
                "field '%s': the box %s is not within the %s %s", f->name, asked,
                f->dropped ? "cells of the field" : "grid", have);
  return AMBIT_OK;
}

/* ---- a box of several parts ---- */

void ambit__dense_copy(void *to, const ambit__box *to_box, const void *from,
                       const ambit__box *from_box, const ambit__box *cells, size_t cell)
{
  const int last = cells->ndims - 1;
  const size_t row = (size_t)(cells->hi[last] - cells->lo[last]) * cell;
  int64_t at[AMBIT_MAX_DIMS];

  ambit__box_first(cells, at);
  do
    memcpy((char *)to + (size_t)ambit__box_number(to_box, at) * cell,
           (const char *)from + (size_t)ambit__box_number(from_box, at) * cell, row);
  while (ambit__box_next_row(cells, at));
}

/* The part of this process that contains the whole box; -1: none. */
static int sole_owner(const ambit_field *f, const ambit__box *box)
{
  if (f->dropped && f->grid->placement.n > 1) return -1; /* some parts have copies */
  for (int i = 0; i < f->grid->placement.n; i++)
    if (ambit__box_contains(&f->stores[i].layout.own, box)) return i;
  return -1;
}

/* Cells of a part to or from a dense array of them. */
static ambit_status move_cells(ambit_field *f, int part, const ambit__box *cells, void *dense,
                               bool writes)
{
  ambit__queue *q = ambit__engine_of(f->grid, part)->queue;

  return writes ? ambit__do(q, write, &f->stores[part], cells, dense)
                : ambit__do(q, read, dense, &f->stores[part], cells);
}

/* The cells of `box` that parts of this process own to or from `values`, the user's array for it:
 * at once, or in pieces of parts. */
static ambit_status move_box(ambit_field *f, const ambit__box *box, void *values, bool writes)
{
  const int64_t most = ambit__field_piece_cells(f);
  const size_t cell = ambit__field_cell_bytes(f);
  const int sole = sole_owner(f, box);
  void *dense = sole < 0 ? ambit__field_piece_new(f) : NULL;
  ambit_status s = dense ? AMBIT_OK : AMBIT_ENOMEM;

  if (sole >= 0) return move_cells(f, sole, box, values, writes);
  for (int i = 0; !s && i < f->grid->placement.n; i++) {
    ambit__box mine = ambit__box_intersect(box, &f->stores[i].layout.own), piece;

    if (ambit__box_is_empty(&mine)) continue;
    ambit__box_first_piece(&mine, most, &piece);
    do {
      if (writes)
        ambit__dense_copy(dense, &piece, values, box, &piece, cell);
      else if (f->grid->active)
        ambit__field_blank(f, ambit__box_volume(&piece), dense);
      s = move_cells(f, i, &piece, dense, writes);
      if (!s && !writes) ambit__dense_copy(values, box, dense, &piece, &piece, cell);
    } while (!s && ambit__box_next_piece(&mine, most, &piece));
  }
  free(dense);
  return s;
}

void ambit__field_blank(const ambit_field *f, int64_t cells, void *values)
{
  const size_t size = ambit_type_size(f->type), step = ambit__field_cell_bytes(f);

  for (int c = 0; c < f->components; c++) {
    unsigned char *to = (unsigned char *)values + (size_t)c * size;
    alignas(8) unsigned char value[8];

    ambit__value_store(value, f->type,
                       ambit__value_of(ambit__field_boundaries(f, c)->fill, f->type));
    for (int64_t i = 0; i < cells; i++, to += step)
      memcpy(to, value, size);
  }
}

ambit_status ambit__field_read_own(ambit_field *f, const ambit__box *box, void *values)
{
  if (f->grid->active) ambit__field_blank(f, ambit__box_volume(box), values);
  return move_box(f, box, values, false);
}

/* ---- a box of several processes ---- */

/* Copies the cells of `box` that a process owns between the user's array and a packed array, part
 * by part. Returns the number of these cells. If `packed` is NULL, only counts them. */
static int64_t pack_process(const ambit_field *f, int process, const ambit__box *box, void *values,
                            unsigned char *packed, bool unpacks)
{
  const ambit_grid *g = f->grid;
  const size_t cell = ambit__field_cell_bytes(f);
  int64_t n = 0;

  for (int i = g->placement.first[process]; i < g->placement.first[process + 1]; i++) {
    const ambit__box owned = ambit__field_owned(f, i);
    const ambit__box cells = ambit__box_intersect(box, &owned);
    unsigned char *at = packed ? packed + (size_t)n * cell : NULL;

    if (ambit__box_is_empty(&cells)) continue;
    if (at && unpacks) ambit__dense_copy(values, box, at, &cells, &cells, cell);
    if (at && !unpacks) ambit__dense_copy(at, &cells, values, box, &cells, cell);
    n += ambit__box_volume(&cells);
  }
  return n;
}

/* Bytes of the cells of `box` that a process owns. */
static size_t share(const ambit_field *f, int process, const ambit__box *box)
{
  return (size_t)pack_process(f, process, box, NULL, NULL, false) * ambit__field_cell_bytes(f);
}

/* Broadcasts the cells of `box` that each process owns to all others. `packed` has room for the
 * largest share. */
static ambit_status broadcast_box(ambit_field *f, const ambit__box *box, void *values,
                                  unsigned char *packed)
{
  ambit__net *net = f->grid->context->net;

  for (int r = 0; r < net->size; r++) {
    const size_t bytes = share(f, r, box);

    if (!bytes) continue;
    if (r == net->rank) pack_process(f, r, box, values, packed, false);
    AMBIT_TRY(ambit__net_broadcast(net, r, packed, bytes));
    if (r != net->rank) pack_process(f, r, box, values, packed, true);
  }
  return AMBIT_OK;
}

/* Reads own cells, and trades them with the other processes if none of them has failed to. */
static ambit_status read_together(ambit_field *f, const ambit__box *box, void *values)
{
  ambit__net *net = f->grid->context->net;
  unsigned char *packed;
  size_t most = 0;
  ambit_status s;

  for (int r = 0; r < net->size; r++)
    if (share(f, r, box) > most) most = share(f, r, box);
  packed = ambit__new(ambit__field_errors(f), most, 1);
  if (packed) ambit__field_read_own(f, box, values);
  s = ambit__net_agree(net);
  if (!s) s = broadcast_box(f, box, values, packed);
  free(packed);
  return s;
}

/* ---- for users ---- */

ambit_status ambit_field_write(ambit_field *f, const int64_t *lo, const int64_t *hi,
                               const void *values)
{
  ambit__box box;

  if (ambit__field_failed(f)) return ambit__field_status(f);
  AMBIT_CHECK(values, ambit__field_errors(f), AMBIT_EINVAL, "field '%s': the values are NULL",
              f->name);
  AMBIT_TRY(user_box(f, lo, hi, &box));
  if (ambit__box_is_empty(&box)) return AMBIT_OK;
  ambit__field_changed(f);
  return move_box(f, &box, (void *)values, true);
}

static ambit_status check_read(const ambit_field *f, const int64_t *lo, const int64_t *hi,
                               const void *values, ambit__box *box)
{
  if (ambit__field_failed(f)) return ambit__field_status(f);
  AMBIT_CHECK(values, ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': the array for the values is NULL", f->name);
  return user_box(f, lo, hi, box);
}

/* Checks that all processes read the same box of the same field. */
static ambit_status meet(const ambit_field *f, const ambit__box *box)
{
  char doing[120], cells[60]; /* longer names and boxes are truncated */

  if (f->grid->context->net->size == 1) return AMBIT_OK;
  ambit__box_print(box, cells, sizeof cells);
  snprintf(doing, sizeof doing, "reads %s of field '%.20s'", cells, f->name);
  return ambit__meet(f->grid->context, doing);
}

ambit_status ambit_field_read(ambit_field *f, const int64_t *lo, const int64_t *hi, void *values)
{
  ambit__box box;
  size_t bytes;
  ambit *a;

  if (!f) return AMBIT_EINVAL;
  a = f->grid->context;
  ambit__view_refresh(f);
  if (check_read(f, lo, hi, values, &box)) return ambit__meet(f->grid->context, "fails");
  AMBIT_TRY(meet(f, &box));
  if (ambit__box_is_empty(&box)) return AMBIT_OK;
  bytes = (size_t)ambit__box_volume(&box) * ambit__field_cell_bytes(f);
  if (ambit__journal_replay(&a->errors, &a->journal, ENTRY_FIELD, values, bytes))
    return a->errors.status;
  if (a->net->size == 1)
    AMBIT_TRY(ambit__field_read_own(f, &box, values));
  else
    AMBIT_TRY(read_together(f, &box, values));
  ambit__journal_record(&a->journal, ENTRY_FIELD, values, bytes);
  return AMBIT_OK;
}

/* The only store of a field, on a dense grid with one part; NULL: an error was raised. */
static ambit__store *sole_store(ambit_field *f)
{
  const ambit_grid *g = f->grid;

  if (!g->active && g->nparts == 1 && g->placement.n == 1) return &f->stores[0];
  ambit__raise(ambit__field_errors(f), AMBIT_EUNSUPPORTED,
               "field '%s' has no memory to be shown as a whole: its grid %s; use ambit_field_read",
               f->name, g->active ? "is sparse" : "has several parts");
  return NULL;
}

ambit_status ambit_field_memory(ambit_field *f, ambit_memory *memory)
{
  ambit__store *store;
  const ambit__engine *e;
  unsigned char *base = NULL;
  int64_t size, first[AMBIT_MAX_DIMS] = {0};

  if (ambit__field_failed(f)) return ambit__field_status(f);
  AMBIT_TRY(ambit__field_check_whole(f, "is read and written by ambit_field_read and _write"));
  AMBIT_CHECK(memory, ambit__field_errors(f), AMBIT_EINVAL, "ambit_field_memory: memory is NULL");
  ambit__view_refresh(f);
  store = sole_store(f);
  if (!store) return AMBIT_EUNSUPPORTED;
  e = ambit__engine_of(f->grid, 0);
  *memory = (ambit_memory){.device = AMBIT_HOST_MEMORY, .ordinal = e->ordinal};
  if (e->device->backend->address) base = e->device->backend->address(store->buffer);
  if (!base && e->device->backend->place) {
    base = e->device->backend->place(e->device, store->buffer);
    memory->device = AMBIT_CUDA_MEMORY;
  }
  AMBIT_CHECK(base, ambit__field_errors(f), AMBIT_EUNSUPPORTED,
              "field '%s' is on the device %s, whose memory cannot be shown; use ambit_field_read",
              f->name, e->backend->name);
  size = (int64_t)ambit_type_size(f->type);
  memory->data = base + ambit__layout_at(&store->layout, first) * size;
  for (int d = 0; d < f->grid->box.ndims; d++)
    memory->stride[d] = store->layout.stride[d] * size;
  memory->component = store->layout.component * size;
  ambit__field_changed(f); /* as far as anyone knows */
  return ambit__engines_wait(f->grid->context);
}
