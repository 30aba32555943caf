/* SPDX-License-Identifier: BSD-3-Clause */
/* field_values.c - the values of fields, in and out, whoever has them.
 *
 * Users see one grid. A box they write is cut by the parts' boxes, and each part takes what is its own; what
 * they read is put together from all parts. Dense arrays are in C order, components last.
 */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20 }; /* of what goes to the device and back at a time */

size_t ambit__field_cell_bytes(const ambit_field *f)
{
  return (size_t)f->components * ambit_type_size(f->type);
}

int64_t ambit__field_piece_cells(const ambit_field *f)
{
  int64_t n = PIECE_BYTES / (int64_t)ambit__field_cell_bytes(f);
  int64_t all = ambit__box_volume(&f->grid->box);

  return n < 1 ? 1 : n < all ? n : all;
}

void *ambit__field_piece_new(const ambit_field *f)
{
  return ambit__new(ambit__field_errors(f), (size_t)ambit__field_piece_cells(f),
                    ambit__field_cell_bytes(f));
}

void ambit__field_changed(ambit_field *f)
{
  f->given = f->news = true;
  f->ghosts.stale = true;
  f->likeness.id = 0;
}

/* The box lo..hi of the caller, or of the whole grid where NULL. */
static ambit_status user_box(const ambit_field *f, const int64_t *lo, const int64_t *hi,
                             ambit__box *box)
{
  char asked[160], have[160];

  *box = f->grid->box;
  for (int d = 0; d < box->ndims; d++) {
    if (lo) box->lo[d] = lo[d];
    if (hi) box->hi[d] = hi[d];
  }
  ambit__box_print(box, asked, sizeof asked);
  ambit__box_print(&f->grid->box, have, sizeof have);
  for (int d = 0; d < box->ndims; d++)
    AMBIT_CHECK(box->lo[d] >= 0 && box->lo[d] <= box->hi[d] && box->hi[d] <= f->grid->box.hi[d],
                ambit__field_errors(f), AMBIT_EINVAL,
                "field '%s': the box %s is not within the grid %s", f->name, asked, have);
  return AMBIT_OK;
}

/* ---- a box of several parts ---- */

/* Where the cell `at` lies in a dense array of the cells of `box`. */
static int64_t place(const ambit__box *box, const int64_t *at)
{
  int64_t n = 0;

  for (int d = 0; d < box->ndims; d++)
    n = n * (box->hi[d] - box->lo[d]) + at[d] - box->lo[d];
  return n;
}

void ambit__dense_copy(void *to, const ambit__box *to_box, const void *from,
                       const ambit__box *from_box, const ambit__box *cells, size_t cell)
{
  const int last = cells->ndims - 1;
  const size_t row = (size_t)(cells->hi[last] - cells->lo[last]) * cell;
  int64_t at[AMBIT_MAX_DIMS];

  ambit__box_first(cells, at);
  do
    memcpy((char *)to + (size_t)place(to_box, at) * cell,
           (const char *)from + (size_t)place(from_box, at) * cell, row);
  while (ambit__box_next_row(cells, at));
}

/* Values of a piece of one part, on their way to or from the user's array of `box`. */
typedef ambit_status (*move_fn)(ambit_field *f, int part, const ambit__box *piece, void *dense,
                                const ambit__box *box, void *values);

static ambit_status put_piece(ambit_field *f, int part, const ambit__box *piece, void *dense,
                              const ambit__box *box, void *values)
{
  const ambit__engine *e = ambit__engine_of(f->grid, part);

  ambit__dense_copy(dense, piece, values, box, piece, ambit__field_cell_bytes(f));
  return e->device->backend->write_box(e->queue, &f->stores[part], piece, dense);
}

static ambit_status get_piece(ambit_field *f, int part, const ambit__box *piece, void *dense,
                              const ambit__box *box, void *values)
{
  const ambit__engine *e = ambit__engine_of(f->grid, part);

  AMBIT_TRY(e->device->backend->read_box(e->queue, dense, &f->stores[part], piece));
  ambit__dense_copy(values, box, dense, piece, piece, ambit__field_cell_bytes(f));
  return AMBIT_OK;
}

/* Moves the cells of `box` that parts of this process have, piece by piece. */
static ambit_status each_own_piece(ambit_field *f, const ambit__box *box, void *values,
                                   move_fn move)
{
  const int64_t most = ambit__field_piece_cells(f);
  void *dense = ambit__field_piece_new(f);
  ambit_status s = dense ? AMBIT_OK : AMBIT_ENOMEM;

  for (int i = 0; !s && i < f->grid->placement.n; i++) {
    ambit__box mine = ambit__box_intersect(box, &f->stores[i].layout.own), piece;

    if (ambit__box_is_empty(&mine)) continue;
    ambit__box_first_piece(&mine, most, &piece);
    do
      s = move(f, i, &piece, dense, box, values);
    while (!s && ambit__box_next_piece(&mine, most, &piece));
  }
  free(dense);
  return s;
}

/* The one part that has all of the box; -1: none of this process. */
static int sole_owner(const ambit_field *f, const ambit__box *box)
{
  for (int i = 0; i < f->grid->placement.n; i++)
    if (ambit__box_contains(&f->stores[i].layout.own, box)) return i;
  return -1;
}

static ambit_status write_box(ambit_field *f, const ambit__box *box, const void *values)
{
  int part = sole_owner(f, box);

  if (part >= 0) {
    const ambit__engine *e = ambit__engine_of(f->grid, part);

    return e->device->backend->write_box(e->queue, &f->stores[part], box, values);
  }
  return each_own_piece(f, box, (void *)values, put_piece);
}

ambit_status ambit__field_read_own(ambit_field *f, const ambit__box *box, void *values)
{
  int part = sole_owner(f, box);

  if (part >= 0) {
    const ambit__engine *e = ambit__engine_of(f->grid, part);

    return e->device->backend->read_box(e->queue, values, &f->stores[part], box);
  }
  return each_own_piece(f, box, values, get_piece);
}

/* ---- a box of several processes ---- */

/* Copies what parts of a process have of `box` between the user's array and a dense array of just that, part after
 * part. Returns how many cells that is; `packed` NULL: nothing is copied. */
static int64_t pack_process(const ambit_field *f, int process, const ambit__box *box, void *values,
                            unsigned char *packed, bool unpacks)
{
  const ambit_grid *g = f->grid;
  const size_t cell = ambit__field_cell_bytes(f);
  int64_t n = 0;

  for (int i = g->placement.first[process]; i < g->placement.first[process + 1]; i++) {
    ambit__box cells = ambit__box_intersect(box, &g->parts[i]);
    unsigned char *at = packed ? packed + (size_t)n * cell : NULL;

    if (ambit__box_is_empty(&cells)) continue;
    if (at && unpacks) ambit__dense_copy(values, box, at, &cells, &cells, cell);
    if (at && !unpacks) ambit__dense_copy(at, &cells, values, box, &cells, cell);
    n += ambit__box_volume(&cells);
  }
  return n;
}

/* Every process gets what the others have of `box`. */
static ambit_status spread(ambit_field *f, const ambit__box *box, void *values)
{
  ambit__net *net = f->grid->context->net;

  for (int r = 0; r < net->size; r++) {
    const size_t bytes =
        (size_t)pack_process(f, r, box, NULL, NULL, false) * ambit__field_cell_bytes(f);
    unsigned char *packed;
    ambit_status s;

    if (!bytes) continue;
    packed = ambit__new(ambit__field_errors(f), bytes, 1);
    if (!packed) return AMBIT_ENOMEM;
    if (r == net->rank) pack_process(f, r, box, values, packed, false);
    s = ambit__net_broadcast(net, r, packed, bytes);
    if (!s && r != net->rank) pack_process(f, r, box, values, packed, true);
    free(packed);
    AMBIT_TRY(s);
  }
  return AMBIT_OK;
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
  return write_box(f, &box, values);
}

static ambit_status check_read(const ambit_field *f, const int64_t *lo, const int64_t *hi,
                               const void *values, ambit__box *box)
{
  if (ambit__field_failed(f)) return ambit__field_status(f);
  AMBIT_CHECK(values, ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': there is nowhere to put the values", f->name);
  return user_box(f, lo, hi, box);
}

/* All processes read the same box of the same field, or none does. */
static ambit_status meet(const ambit_field *f, const ambit__box *box)
{
  char doing[120], cells[60]; /* more than that differs soon enough */

  if (f->grid->context->net->size == 1) return AMBIT_OK;
  ambit__box_print(box, cells, sizeof cells);
  snprintf(doing, sizeof doing, "reads %s of field '%.20s'", cells, f->name);
  return ambit__meet(f->grid->context, doing);
}

ambit_status ambit_field_read(ambit_field *f, const int64_t *lo, const int64_t *hi, void *values)
{
  ambit__net *net = f ? f->grid->context->net : NULL;
  ambit__box box;

  if (!f) return AMBIT_EINVAL;
  if (check_read(f, lo, hi, values, &box)) return ambit__meet(f->grid->context, "fails");
  AMBIT_TRY(meet(f, &box));
  if (ambit__box_is_empty(&box)) return AMBIT_OK;
  ambit__field_read_own(f, &box, values);
  AMBIT_TRY(ambit__net_agree(net));
  return net->size > 1 ? spread(f, &box, values) : AMBIT_OK;
}

/* Values of the cells of a piece, in C order. */
static void fill_piece(const ambit_field *f, const ambit__box *box, ambit_fill_fn fn, void *user,
                       unsigned char *dense)
{
  const ambit_type type = f->type;
  const size_t size = ambit_type_size(type);
  const int last = box->ndims - 1;
  int64_t cell[AMBIT_MAX_DIMS];

  ambit__box_first(box, cell);
  do {
    for (cell[last] = box->lo[last]; cell[last] < box->hi[last]; cell[last]++)
      for (int c = 0; c < f->components; c++, dense += size)
        ambit__value_store(dense, type, ambit__value_of(fn(cell, c, user), type));
    cell[last] = box->lo[last];
  } while (ambit__box_next_row(box, cell));
}

/* Gives the cells of one part their values, piece by piece. */
static ambit_status fill_part(ambit_field *f, int part, ambit_fill_fn fn, void *user,
                              unsigned char *dense)
{
  const ambit__engine *e = ambit__engine_of(f->grid, part);
  const ambit__box *own = &f->stores[part].layout.own;
  ambit__box piece;

  if (ambit__box_is_empty(own)) return AMBIT_OK;
  ambit__box_first_piece(own, ambit__field_piece_cells(f), &piece);
  do {
    fill_piece(f, &piece, fn, user, dense);
    AMBIT_TRY(e->device->backend->write_box(e->queue, &f->stores[part], &piece, dense));
  } while (ambit__box_next_piece(own, ambit__field_piece_cells(f), &piece));
  return AMBIT_OK;
}

ambit_status ambit_field_fill(ambit_field *f, ambit_fill_fn fn, void *user)
{
  unsigned char *dense;
  ambit_status s = AMBIT_OK;

  if (ambit__field_failed(f)) return ambit__field_status(f);
  AMBIT_CHECK(fn, ambit__field_errors(f), AMBIT_EINVAL,
              "field '%s': the function to fill it is NULL", f->name);
  dense = ambit__field_piece_new(f);
  if (!dense) return AMBIT_ENOMEM;
  ambit__field_changed(f);
  for (int i = 0; !s && i < f->grid->placement.n; i++)
    s = fill_part(f, i, fn, user, dense);
  free(dense);
  return s;
}

static double same_value(const int64_t *index, int component, void *user)
{
  (void)index;
  (void)component;
  return *(const double *)user;
}

ambit_status ambit_field_fill_value(ambit_field *f, double value)
{
  return ambit_field_fill(f, same_value, &value);
}
