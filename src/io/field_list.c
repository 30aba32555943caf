/* SPDX-License-Identifier: BSD-3-Clause */
/* field_list.c - the active cells of a field as a list in a NumPy file: a record per cell, of its
 * index and its value.
 *
 * Records are saved in the order of cells in an array, so that the place of each is known to every
 * process. They are loaded in any order, a batch at a time: sorted, they are put into the dense
 * pieces of the field that have them. Cells that are not in the list keep their values.
 */
#include "io/field_list.h"

#include "base/file.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS(f) (&(f)->grid->context->errors)
#define NET(f)    ((f)->grid->context->net)

void ambit__cell_list_form(const ambit_field *f, ambit__npy_info *form)
{
  const ambit__box all = ambit__field_box(f);

  *form = (ambit__npy_info){.type = f->type,
                            .ndims = 1,
                            .shape = {ambit__grid_count(f->grid, &all)},
                            .axes = f->grid->box.ndims,
                            .values = f->components};
}

static size_t record_bytes(const ambit_field *f)
{
  return (size_t)f->grid->box.ndims * sizeof(int64_t) + ambit__field_cell_bytes(f);
}

/* ---- saving ---- */

ambit_status ambit__cell_list_begin(const ambit_field *f, ambit__cell_list *l)
{
  const ambit__active *a = f->grid->active;

  l->records = ambit__new(ERRORS(f), (size_t)ambit__field_piece_cells(f), record_bytes(f));
  if (!l->records) return AMBIT_ENOMEM;
  if (!a) return AMBIT_OK;
  l->before = ambit__active_before(ERRORS(f), a);
  return l->before ? AMBIT_OK : AMBIT_ENOMEM;
}

void ambit__cell_list_end(ambit__cell_list *l)
{
  free(l->before);
  free(l->records);
}

/* The next row of cells of a box that are in the list, and the number of its first one there; *i is
 * first 0. */
static bool next_row(const ambit_field *f, const ambit__cell_list *l, const ambit__box *box,
                     int64_t *i, ambit__box *row, int64_t *number)
{
  const ambit__active *a = f->grid->active;
  const ambit__box all = ambit__field_box(f);
  const int last = box->ndims - 1;

  if (a) {
    if (!ambit__active_next(a, box, i, row)) return false;
    *number = l->before[*i - 1] + row->lo[last] - a->runs[*i - 1].lo;
    return true;
  }
  if (!*i)
    ambit__box_first(box, row->lo);
  else if (!ambit__box_next_row(box, row->lo))
    return false;
  ++*i;
  *number = ambit__box_number(&all, row->lo);
  row->hi[last] = box->hi[last];
  return true;
}

/* The records of a row, from its values in the dense array of a box. */
static void make_records(const ambit_field *f, const ambit__box *row, const unsigned char *values,
                         unsigned char *records)
{
  const size_t cell = ambit__field_cell_bytes(f), index = record_bytes(f) - cell;
  const int last = f->grid->box.ndims - 1;
  int64_t at[AMBIT_MAX_DIMS];

  memcpy(at, row->lo, sizeof at);
  for (; at[last] < row->hi[last]; at[last]++, values += cell) {
    memcpy(records, at, index);
    memcpy(records + index, values, cell);
    records += index + cell;
  }
}

ambit_status ambit__cell_list_put(const ambit_field *f, const ambit__box *box, const void *dense,
                                  ambit__cell_list *l)
{
  const size_t cell = ambit__field_cell_bytes(f), record = record_bytes(f);
  const int last = box->ndims - 1;
  ambit__box row = *box;
  int64_t i = 0, number;

  while (next_row(f, l, box, &i, &row, &number)) {
    const size_t bytes = (size_t)(row.hi[last] - row.lo[last]) * record;

    make_records(f, &row,
                 (const unsigned char *)dense + (size_t)ambit__box_number(box, row.lo) * cell,
                 l->records);
    AMBIT_TRY(l->saving->in_order
                  ? ambit__file_write(l->saving->file, l->records, bytes)
                  : ambit__save_put(l->saving, (size_t)number * record, l->records, bytes));
  }
  return AMBIT_OK;
}

/* ---- loading ---- */

/* A record of a batch, by the number of its cell in the box. */
typedef struct entry {
  int64_t number;
  const unsigned char *record;
} entry;

typedef struct loading {
  ambit_field *f;
  const char *path;
  ambit__box box; /* of the piece that `dense` has; empty: of none */
  unsigned char *dense, *records;
  entry *entries;
} loading;

static int compare(const void *a, const void *b)
{
  const entry *x = a, *y = b;

  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return (x->record > y->record) - (x->record < y->record); /* the last one of a cell counts */
}

static ambit_status flush(loading *l)
{
  return ambit__box_is_empty(&l->box) ? AMBIT_OK
                                      : ambit_field_write(l->f, l->box.lo, l->box.hi, l->dense);
}

/* Changes to the piece with a cell: whole rows, or planes, from there on, if they fit. */
static ambit_status turn_to(loading *l, const int64_t *cell)
{
  const ambit__box cells = ambit__field_box(l->f), *all = &cells;
  int64_t left = ambit__field_piece_cells(l->f);

  AMBIT_TRY(flush(l));
  l->box = *all;
  for (int d = all->ndims - 1; d >= 0; d--) {
    if (all->hi[d] > left) {
      l->box.lo[d] = cell[d];
      l->box.hi[d] = cell[d] + left < all->hi[d] ? cell[d] + left : all->hi[d];
      left = 1;
    }
    left /= l->box.hi[d] - l->box.lo[d];
  }
  return ambit__field_read_own(l->f, &l->box, l->dense);
}

/* The numbers of the cells of a batch, in order. `earlier` records came before it. */
static ambit_status sort_batch(loading *l, int64_t n, int64_t earlier)
{
  const size_t record = record_bytes(l->f);
  const ambit__box all = ambit__field_box(l->f);

  for (int64_t i = 0; i < n; i++) {
    int64_t cell[AMBIT_MAX_DIMS] = {0};
    const unsigned char *at = l->records + (size_t)i * record;

    memcpy(cell, at, record - ambit__field_cell_bytes(l->f));
    AMBIT_CHECK(ambit__box_has(&all, cell), ERRORS(l->f), AMBIT_EIO,
                "%s: the index of record %" PRId64 " is outside the grid of field '%s'", l->path,
                earlier + i, l->f->name);
    l->entries[i] = (entry){ambit__box_number(&all, cell), at};
  }
  qsort(l->entries, (size_t)n, sizeof *l->entries, compare);
  return AMBIT_OK;
}

static ambit_status put_batch(loading *l, int64_t n)
{
  const size_t cell = ambit__field_cell_bytes(l->f), index = record_bytes(l->f) - cell;

  for (int64_t i = 0; i < n; i++) {
    int64_t at[AMBIT_MAX_DIMS] = {0};

    memcpy(at, l->entries[i].record, index);
    if (!ambit__box_has(&l->box, at)) AMBIT_TRY(turn_to(l, at));
    memcpy(l->dense + (size_t)ambit__box_number(&l->box, at) * cell, l->entries[i].record + index,
           cell);
  }
  return AMBIT_OK;
}

static ambit_status load_batches(loading *l, int64_t cells, int64_t most, ambit__npy_reader *reader)
{
  for (int64_t done = 0, n; done < cells; done += n) {
    const size_t record = record_bytes(l->f);

    n = cells - done < most ? cells - done : most;
    if (!NET(l->f)->rank) ambit__npy_next(reader, l->records, (size_t)n * record);
    AMBIT_TRY(ambit__net_agree(NET(l->f)));
    AMBIT_TRY(ambit__net_broadcast(NET(l->f), 0, l->records, (size_t)n * record));
    AMBIT_TRY(sort_batch(l, n, done));
    AMBIT_TRY(put_batch(l, n));
  }
  return flush(l);
}

ambit_status ambit__cell_list_load(ambit_field *f, const char *path, const ambit__npy_info *info,
                                   ambit__npy_reader *reader)
{
  const int64_t piece = ambit__field_piece_cells(f), cells = info->shape[0];
  const int64_t most = cells < piece ? cells : piece;
  loading l = {.f = f, .path = path, .box = {.ndims = f->grid->box.ndims}};
  ambit_status s;

  l.dense = ambit__field_piece_new(f);
  l.records = ambit__new(ERRORS(f), (size_t)most + 1, record_bytes(f));
  l.entries = ambit__new(ERRORS(f), (size_t)most + 1, sizeof *l.entries);
  s = ambit__net_agree(NET(f));
  if (!s) s = load_batches(&l, cells, most, reader);
  free(l.dense);
  free(l.records);
  free(l.entries);
  return s;
}
