/* SPDX-License-Identifier: BSD-3-Clause */
/* field_raster.c - fields from elevation files: every process reads the rows of its own parts. */
#include "io/save.h"

#include "base/memory.h"
#include "runtime/objects/pieces.h"

#include <inttypes.h>
#include <stdlib.h>

#define ERRORS(f) (&(f)->grid->context->errors)

/* A file that is read into a field. */
typedef struct loading {
  ambit_field *field;
  ambit__raster *raster;
  double *row; /* values of a row of the file */
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

static ambit_status load_piece(ambit_field *f, const ambit__box *box, void *dense, void *user)
{
  const loading *l = user;
  unsigned char *to = dense;

  for (int64_t y = box->lo[0]; y < box->hi[0]; y++) {
    AMBIT_TRY(ambit__raster_row(l->raster, y, l->row));
    for (int64_t x = box->lo[1]; x < box->hi[1]; x++, to += ambit_type_size(f->type))
      AMBIT_TRY(store(l, y, x, to));
  }
  return ambit_field_write(f, box->lo, box->hi, dense);
}

static ambit_status load(loading *l)
{
  AMBIT_TRY(check_raster(l->field, l->raster));
  AMBIT_NEW(ERRORS(l->field), l->row, (size_t)l->raster->width);
  ambit__field_changed(l->field);
  return ambit__each_own_piece(l->field, false, load_piece, l);
}

ambit_status ambit__field_load_raster(ambit_field *f, const char *path, ambit__raster_format format)
{
  loading l = {.field = f};

  if (!ambit__raster_open(ERRORS(f), path, format, &l.raster)) load(&l);
  ambit__raster_close(l.raster);
  free(l.row);
  return ambit__meet(f->grid->context, "has loaded a file"); /* raises a failure on all */
}
