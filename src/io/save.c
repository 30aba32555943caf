/* save.c - fields to and from files, piece by piece: a field is never held twice.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "base/memory.h"
#include "io/npy.h"
#include "io/png.h"
#include "runtime/runtime.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS(f) (&(f)->grid->context->errors)

/* ---- pieces ---- */

/* Something done with a piece of a field: the cells of `box`, dense. */
typedef ambit_status (*piece_fn)(ambit_field *f, const ambit__box *box, void *dense, size_t bytes,
                                 void *user);

static ambit_status each_piece(ambit_field *f, piece_fn fn, void *user)
{
  const ambit__box *all = &f->grid->box;
  const int64_t most = ambit__field_piece_cells(f);
  ambit__box box;
  void *dense = ambit__field_piece_new(f);
  ambit_status s = dense ? AMBIT_OK : AMBIT_ENOMEM;

  ambit__box_first_piece(all, most, &box);
  while (!s) {
    s = fn(f, &box, dense, (size_t)ambit__box_volume(&box) * ambit__field_cell_bytes(f), user);
    if (!ambit__box_next_piece(all, most, &box)) break;
  }
  free(dense);
  return s;
}

/* ---- NumPy ---- */

static int npy_shape(const ambit_field *f, int64_t *shape)
{
  const ambit__box *b = &f->grid->box;

  memcpy(shape, b->hi, (size_t)b->ndims * sizeof *shape);
  shape[b->ndims] = f->components;
  return b->ndims + (f->components > 1);
}

static ambit_status append_piece(ambit_field *f, const ambit__box *box, void *dense, size_t bytes,
                                 void *user)
{
  AMBIT_TRY(ambit_field_read(f, box->lo, box->hi, dense));
  return ambit__npy_append(user, dense, bytes);
}

static ambit_status save_npy(ambit_field *f, const char *path)
{
  int64_t shape[AMBIT__NPY_DIMS];
  int ndims = npy_shape(f, shape);
  ambit__npy *npy;
  ambit_status s;

  AMBIT_TRY(ambit__npy_begin(ERRORS(f), path, f->type, ndims, shape, &npy));
  s = each_piece(f, append_piece, npy);
  if (!s) return ambit__npy_end(npy);
  ambit__npy_abort(npy);
  return s;
}

static ambit_status take_piece(ambit_field *f, const ambit__box *box, void *dense, size_t bytes,
                               void *user)
{
  AMBIT_TRY(ambit__npy_next(user, dense, bytes));
  return ambit_field_write(f, box->lo, box->hi, dense);
}

static ambit_status check_npy(const ambit_field *f, const char *path, const ambit__npy_info *info)
{
  int64_t shape[AMBIT__NPY_DIMS];
  int ndims = npy_shape(f, shape);

  AMBIT_CHECK(info->type == f->type, ERRORS(f), AMBIT_EIO,
              "%s holds values of type %s, but field '%s' is %s", path, ambit_type_name(info->type),
              f->name, ambit_type_name(f->type));
  AMBIT_CHECK(info->ndims == ndims, ERRORS(f), AMBIT_EIO,
              "%s has %d dimensions, but field '%s' needs %d%s", path, info->ndims, f->name, ndims,
              ndims > f->grid->box.ndims ? " (the last one is the component)" : "");
  for (int d = 0; d < ndims; d++)
    AMBIT_CHECK(info->shape[d] == shape[d], ERRORS(f), AMBIT_EIO,
                "%s has %" PRId64 " values along dimension %d, but field '%s' needs %" PRId64, path,
                info->shape[d], d, f->name, shape[d]);
  return AMBIT_OK;
}

static ambit_status load_npy(ambit_field *f, const char *path)
{
  ambit__npy_reader *reader;
  ambit__npy_info info;
  ambit_status s;

  AMBIT_TRY(ambit__npy_open(ERRORS(f), path, &info, &reader));
  s = check_npy(f, path, &info);
  if (!s) s = each_piece(f, take_piece, reader);
  ambit__npy_close(reader);
  return s;
}

/* ---- pictures ---- */

typedef struct picture_rows {
  ambit_field *field;
  unsigned char *row; /* as the field has it */
} picture_rows;

/* Row y of the picture: of a 3-D field, of its middle plane. */
static ambit_status picture_row(void *user, int64_t y, double *values)
{
  picture_rows *p = user;
  ambit_field *f = p->field;
  ambit__box box = f->grid->box;
  const int last = box.ndims - 1;
  const size_t size = ambit_type_size(f->type), cell = size * (size_t)f->components;

  if (box.ndims >= 2) {
    box.lo[last - 1] = y;
    box.hi[last - 1] = y + 1;
  }
  if (box.ndims == 3) {
    box.lo[0] = f->grid->box.hi[0] / 2;
    box.hi[0] = box.lo[0] + 1;
  }
  AMBIT_TRY(ambit_field_read(f, box.lo, box.hi, p->row));
  for (int64_t x = 0; x < box.hi[last]; x++)
    values[x] = ambit__value_number(ambit__value_load(p->row + (size_t)x * cell, f->type), f->type);
  return AMBIT_OK;
}

static ambit_status save_png(ambit_field *f, const char *path)
{
  const ambit__box *b = &f->grid->box;
  picture_rows rows = {.field = f};
  ambit_status s;

  AMBIT_CHECK(b->ndims <= 3, ERRORS(f), AMBIT_EINVAL,
              "field '%s' has %d dimensions: a picture shows 1, 2 or the middle plane of 3. Save "
              "it as .npy",
              f->name, b->ndims);
  rows.row = ambit__new(ERRORS(f), (size_t)b->hi[b->ndims - 1], ambit__field_cell_bytes(f));
  if (!rows.row) return AMBIT_ENOMEM;
  s = ambit__png_write(ERRORS(f), path, b->hi[b->ndims - 1],
                       b->ndims >= 2 ? b->hi[b->ndims - 2] : 1, picture_row, &rows, NULL);
  free(rows.row);
  return s;
}

/* ---- by name ---- */

static bool ends_in(const char *path, const char *tail)
{
  size_t n = strlen(path), m = strlen(tail);

  return n >= m && !strcmp(path + n - m, tail);
}

static ambit_status check_path(const ambit_field *f, const char *path)
{
  if (!f || ambit__failed(f->grid->context)) return f ? ERRORS(f)->status : AMBIT_EINVAL;
  AMBIT_CHECK(path && *path, ERRORS(f), AMBIT_EINVAL, "field '%s': the file has no name", f->name);
  return AMBIT_OK;
}

ambit_status ambit_field_save(ambit_field *f, const char *path)
{
  AMBIT_TRY(check_path(f, path));
  if (ends_in(path, ".npy")) return save_npy(f, path);
  if (ends_in(path, ".png")) return save_png(f, path);
  return ambit__raise(ERRORS(f), AMBIT_EINVAL,
                      "field '%s' cannot be saved as %s: the name must end in .npy or .png",
                      f->name, path);
}

ambit_status ambit_field_load(ambit_field *f, const char *path)
{
  AMBIT_TRY(check_path(f, path));
  if (ends_in(path, ".npy")) return load_npy(f, path);
  return ambit__raise(ERRORS(f), AMBIT_EINVAL,
                      "field '%s' cannot be loaded from %s: the name must end in .npy", f->name,
                      path);
}
