/* SPDX-License-Identifier: BSD-3-Clause */
/* field_npy.c - fields as arrays in NumPy files, in pieces (runtime/objects/pieces.h).
 *
 * To save, process 0 creates the file with its full length, every process writes its own parts, and
 * at the end process 0 renames the file. To load, every process opens the file and reads its parts.
 * A pipe is read or written in order by process 0; all processes take part in every piece. Lists of
 * active cells (field_list.c) are saved in the same way, and read by process 0.
 */
#include "io/field_list.h"

#include "base/file.h"
#include "runtime/objects/pieces.h"

#include <inttypes.h>

#define ERRORS(f) (&(f)->grid->context->errors)
#define NET(f)    ((f)->grid->context->net)

/* ---- saving ---- */

ambit_status ambit__save_npy_head(ambit__saving *s, const char *path)
{
  const ambit_field *f = s->fields[0];
  ambit__npy_info form = {.type = f->type};
  char header[AMBIT__NPY_HEADER_BYTES];

  AMBIT_CHECK(f->type != AMBIT_BF16, ERRORS(f), AMBIT_EIO,
              "%s: NumPy has no type for the bfloat field '%s'; save a float field that a kernel "
              "copies it to",
              path, f->name);
  if (s->is_other)
    ambit__cell_list_form(f, &form);
  else
    form.ndims = ambit__field_shape(f, form.shape);
  ambit__npy_measure(&form);
  s->offsets[0] = ambit__npy_make_header(&form, header);
  AMBIT_TRY(ambit__file_write(s->file, header, s->offsets[0]));
  return ambit__file_beside(s->file) ? ambit__file_extend(s->file, s->offsets[0] + form.bytes)
                                     : AMBIT_OK;
}

static ambit_status put_piece(ambit_field *f, const ambit__box *box, void *dense, void *user)
{
  ambit__cell_list *l = user;
  ambit__saving *s = l->saving;
  const size_t cell = ambit__field_cell_bytes(f);

  if (!s->in_order) {
    if (s->is_other && f->grid->active && !ambit__active_count(f->grid->active, box))
      return AMBIT_OK;
    AMBIT_TRY(ambit__field_read_own(f, box, dense));
    return s->is_other ? ambit__cell_list_put(f, box, dense, l)
                       : ambit__each_bytes(f, box, dense, cell, ambit__save_put, s);
  }
  AMBIT_TRY(ambit_field_read(f, box->lo, box->hi, dense));
  if (NET(f)->rank) return AMBIT_OK;
  if (s->is_other) /* the next read detects a failure */
    ambit__cell_list_put(f, box, dense, l);
  else
    ambit__file_write(s->file, dense, (size_t)ambit__box_volume(box) * cell);
  return AMBIT_OK;
}

/* Every process writes its own parts; process 0 all to a pipe. */
ambit_status ambit__save_npy_write(ambit__saving *s)
{
  ambit_field *f = s->fields[0];
  ambit__cell_list list = {.saving = s};
  ambit_status status = s->is_other ? ambit__cell_list_begin(f, &list) : AMBIT_OK;

  if (s->in_order)
    status = ambit__each_shared_piece(f, put_piece, &list);
  else if (!status)
    status = ambit__each_own_piece(f, true, put_piece, &list);
  ambit__cell_list_end(&list);
  return status;
}

/* ---- loading ---- */

static ambit_status check_npy(const ambit_field *f, const char *path, const ambit__npy_info *info)
{
  int64_t shape[AMBIT__NPY_DIMS];
  int ndims = ambit__field_shape(f, shape);

  AMBIT_CHECK(info->type == f->type, ERRORS(f), AMBIT_EIO,
              "%s holds values of type %s, but field '%s' is %s", path, ambit_type_name(info->type),
              f->name, ambit_type_name(f->type));
  if (info->axes) {
    AMBIT_CHECK(info->axes == f->grid->box.ndims && info->values == f->components, ERRORS(f),
                AMBIT_EIO,
                "%s lists cells of %d axes with %d values each, but field '%s' has %d and %d", path,
                info->axes, info->values, f->name, f->grid->box.ndims, f->components);
    return AMBIT_OK;
  }
  AMBIT_CHECK(info->ndims == ndims, ERRORS(f), AMBIT_EIO,
              "%s has %d dimensions, but field '%s' needs %d%s", path, info->ndims, f->name, ndims,
              ndims > f->grid->box.ndims ? " (the last one is the component)" : "");
  for (int d = 0; d < ndims; d++)
    AMBIT_CHECK(info->shape[d] == shape[d], ERRORS(f), AMBIT_EIO,
                "%s has %" PRId64 " values along dimension %d, but field '%s' needs %" PRId64, path,
                info->shape[d], d, f->name, shape[d]);
  return AMBIT_OK;
}

static ambit_status get_bytes(void *file, size_t at, void *bytes, size_t n)
{
  return ambit__npy_get(file, at, bytes, n);
}

static ambit_status get_piece(ambit_field *f, const ambit__box *box, void *dense, void *file)
{
  AMBIT_TRY(ambit__each_bytes(f, box, dense, ambit__field_cell_bytes(f), get_bytes, file));
  return ambit_field_write(f, box->lo, box->hi, dense);
}

static ambit_status open_npy(ambit_field *f, const char *path, ambit__npy_info *info,
                             ambit__npy_reader **reader)
{
  AMBIT_TRY(ambit__npy_open_any(ERRORS(f), path, info, reader));
  return check_npy(f, path, info);
}

/* Process 0 opens the file first: a pipe can be opened only once. */
static ambit_status open_together(ambit_field *f, const char *path, ambit__npy_info *info,
                                  ambit__npy_reader **reader)
{
  if (!NET(f)->rank) open_npy(f, path, info, reader);
  AMBIT_TRY(ambit__net_agree(NET(f)));
  AMBIT_TRY(ambit__net_broadcast(NET(f), 0, info, sizeof *info));
  if (NET(f)->rank && info->seekable && !info->axes) open_npy(f, path, info, reader);
  return ambit__net_agree(NET(f));
}

static ambit_status take_piece(ambit_field *f, const ambit__box *box, void *dense, void *file)
{
  const size_t bytes = (size_t)ambit__box_volume(box) * ambit__field_cell_bytes(f);

  if (!NET(f)->rank) ambit__npy_next(file, dense, bytes);
  AMBIT_TRY(ambit__net_agree(NET(f)));
  AMBIT_TRY(ambit__net_broadcast(NET(f), 0, dense, bytes));
  return ambit_field_write(f, box->lo, box->hi, dense);
}

ambit_status ambit__field_load_npy(ambit_field *f, const char *path)
{
  ambit__npy_reader *reader = NULL;
  ambit__npy_info info = {0};
  ambit_status s = open_together(f, path, &info, &reader);

  if (!s) {
    ambit__field_changed(f);
    if (info.axes)
      ambit__cell_list_load(f, path, &info, reader);
    else if (info.seekable)
      ambit__each_own_piece(f, false, get_piece, reader);
    else
      ambit__each_shared_piece(f, take_piece, reader);
    s = ambit__meet(f->grid->context, "has loaded a file");
  }
  ambit__npy_close(reader);
  return s;
}
