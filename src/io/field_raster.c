/* SPDX-License-Identifier: BSD-3-Clause */
/* field_raster.c - fields from elevation files: every process reads the rows of its own parts. */
#include "io/save.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

#define ERRORS(f) (&(f)->grid->context->errors)

/* A file that is read into a field. */
typedef struct loading {
  ambit_field *field;
  ambit__raster *raster;
  double *row;          /* values of a row of the file */
  unsigned char *dense; /* a piece of a part, in the field's type */
} loading;

static ambit_status check_raster(const ambit_field *f, const ambit__raster *r)
{
  const ambit__box all = ambit__field_box(f), *b = &all;

  AMBIT_CHECK(b->ndims == 2 && f->components == 1, ERRORS(f), AMBIT_EIO,
              "%s has one value for each of %" PRId64 " x %" PRId64
              " cells, but field '%s' has %d dimensions and %d component%s",
              r->path, r->height, r->width, f->name, b->ndims, f->components,
              f->components == 1 ? "" : "s");
  AMBIT_CHECK(r->height == b->hi[0] && r->width == b->hi[1], ERRORS(f), AMBIT_EIO,
              "%s has %" PRId64 " x %" PRId64 " cells, but the grid of field '%s' has %" PRId64
              " x %" PRId64,
              r->path, r->height, r->width, f->name, b->hi[0], b->hi[1]);
  return AMBIT_OK;
}

/* Stores a number of the file in the field's type. Real fields round it. */
static ambit_status store(const loading *l, int64_t row, int64_t column, unsigned char *to)
{
  const ambit_field *f = l->field;
  const double x = l->row[column];
  const ambit__value v = ambit__value_of(x, f->type);

  if (!ambit__type_is_real(f->type)) {
    AMBIT_CHECK(x < AMBIT__RASTER_WALL, ERRORS(f), AMBIT_EIO,
                "%s has no data for cell [%" PRId64 "][%" PRId64
                "]; such cells are infinite, which field '%s' of type %s cannot hold: use float",
                l->raster->path, row, column, f->name, ambit_type_name(f->type));
    AMBIT_CHECK(ambit__value_number(v, f->type) == x, ERRORS(f), AMBIT_EIO,
                "%s has the value %g in cell [%" PRId64 "][%" PRId64
                "], which field '%s' of type %s cannot hold: use float",
                l->raster->path, x, row, column, f->name, ambit_type_name(f->type));
  }
  ambit__value_store(to, f->type, v);
  return AMBIT_OK;
}

static ambit_status load_piece(const loading *l, const ambit__box *box)
{
  const size_t size = ambit_type_size(l->field->type);
  unsigned char *to = l->dense;

  for (int64_t y = box->lo[0]; y < box->hi[0]; y++) {
    AMBIT_TRY(ambit__raster_row(l->raster, y, l->row));
    for (int64_t x = box->lo[1]; x < box->hi[1]; x++, to += size)
      AMBIT_TRY(store(l, y, x, to));
  }
  return ambit_field_write(l->field, box->lo, box->hi, l->dense);
}

static ambit_status load_own(const loading *l)
{
  const int64_t most = ambit__field_piece_cells(l->field);

  for (int i = 0; i < l->field->grid->placement.n; i++) {
    const ambit__box *own = &l->field->stores[i].layout.own;
    ambit__box piece;

    if (ambit__box_is_empty(own)) continue;
    ambit__box_first_piece(own, most, &piece);
    do
      AMBIT_TRY(load_piece(l, &piece));
    while (ambit__box_next_piece(own, most, &piece));
  }
  return AMBIT_OK;
}

static ambit_status load(loading *l)
{
  AMBIT_TRY(check_raster(l->field, l->raster));
  l->row = ambit__new(ERRORS(l->field), (size_t)l->raster->width, sizeof *l->row);
  l->dense = ambit__field_piece_new(l->field);
  if (!l->row || !l->dense) return AMBIT_ENOMEM;
  ambit__field_changed(l->field);
  return load_own(l);
}

ambit_status ambit__field_load_raster(ambit_field *f, const char *path, ambit__raster_format format)
{
  loading l = {.field = f};

  if (!ambit__raster_open(ERRORS(f), path, format, &l.raster)) load(&l);
  ambit__raster_close(l.raster);
  free(l.row);
  free(l.dense);
  return ambit__meet(f->grid->context, "has loaded a file"); /* raises a failure on all */
}
