/* SPDX-License-Identifier: BSD-3-Clause */
/* save.c - saves and loads fields, by file name extension. Collective. */
#include "io/save.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/draw.h"
#include "io/npy.h"
#include "runtime/objects/pieces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS(f) (&(f)->grid->context->errors)

/* ---- by name ---- */

static bool is_hdf5(const char *path)
{
  return ambit__ends_in(path, ".vtkhdf") || ambit__ends_in(path, ".h5");
}

/* All processes must save or load the same field and file. */
static ambit_status meet(const ambit_field *f, const char *what, const char *path)
{
  char doing[160] = "fails";

  if (!ambit__failed(f->grid->context) && !(path && *path))
    ambit__raise(ERRORS(f), AMBIT_EINVAL, "field '%s': the file name is empty", f->name);
  if (!ERRORS(f)->status) snprintf(doing, sizeof doing, "%s '%.20s' in %s", what, f->name, path);
  return ambit__meet(f->grid->context, doing);
}

/* ---- files of all processes ---- */

/* Process 0 creates the file and broadcasts its temporary name; the others join. */
static ambit_status create(ambit__saving *s, const char *path)
{
  ambit *a = s->context;
  char *beside = NULL;
  ambit_status status;

  if (!a->net->rank && !ambit__file_create(&a->errors, path, &s->file)) s->head(s, path);
  status = ambit__share_name(a, s->file ? ambit__file_beside(s->file) : NULL, &beside);
  s->in_order = !beside;
  if (!status)
    status = ambit__net_broadcast(a->net, 0, s->offsets, (size_t)(s->n + 1) * sizeof *s->offsets);
  if (!status && beside && a->net->rank) ambit__file_join(&a->errors, path, beside, &s->file);
  free(beside);
  return status ? status : ambit__net_agree(a->net);
}

static ambit_status check_fields(const char *path, int n, ambit_field *const *fields)
{
  ambit__errors *errors = ERRORS(fields[0]);

  for (int i = 1; i < n; i++)
    AMBIT_CHECK(fields[i] && fields[i]->grid == fields[0]->grid, errors, AMBIT_EINVAL,
                "field %d of %d to be saved in %s is %s", i, n, path,
                fields[i] ? "on another grid than the first one; fields of a file share a grid"
                          : "NULL");
  if (is_hdf5(path))
    return ambit__fields_check_hdf5(n, fields, path, ambit__ends_in(path, ".vtkhdf"));
  AMBIT_CHECK(n == 1, errors, AMBIT_EINVAL,
              "%d fields cannot be saved as %s: the name must end in .vtkhdf or .h5", n, path);
  AMBIT_CHECK(ambit__ends_in(path, ".npy"), errors, AMBIT_EINVAL,
              "field '%s' cannot be saved as %s: the name must end in .npy, .png, .vtkhdf or .h5",
              fields[0]->name, path);
  return AMBIT_OK;
}

ambit_status ambit__save_begin(const char *path, int n, ambit_field *const *fields,
                               ambit__saving **out)
{
  ambit *a = fields[0]->grid->context;
  ambit__saving *s;

  *out = NULL;
  AMBIT_TRY(check_fields(path, n, fields));
  s = *out = ambit__new(&a->errors, 1, sizeof *s);
  if (s) {
    *s = (ambit__saving){.context = a,
                         .n = n,
                         .fields = fields,
                         .is_other =
                             ambit__ends_in(path, ".vtkhdf") || ambit__ends_in(path, ".cells.npy"),
                         .head = is_hdf5(path) ? ambit__save_hdf5_head : ambit__save_npy_head,
                         .write = is_hdf5(path) ? ambit__save_hdf5_write : ambit__save_npy_write};
    s->offsets = ambit__new(&a->errors, (size_t)n + 1, sizeof *s->offsets);
  }
  AMBIT_TRY(ambit__net_agree(a->net));
  return create(s, path);
}

ambit_status ambit__save_put(void *saving, size_t at, void *bytes, size_t n)
{
  const ambit__saving *s = saving;

  return ambit__file_write_at(s->file, s->offsets[s->field] + at, bytes, n);
}

ambit_status ambit__save_commit(ambit__saving *s)
{
  ambit__file *file = s->file;

  s->file = NULL;
  return file ? ambit__file_commit(file) : AMBIT_OK; /* a pipe is that of process 0 */
}

void ambit__save_tell(const ambit__saving *s, ambit__errors *errors)
{
  if (s->file) ambit__file_tell(s->file, errors);
}

void ambit__save_free(ambit__saving *s)
{
  if (!s) return;
  ambit__file_abort(s->file);
  free(s->offsets);
  free(s);
}

/* Process 0 is last, since it renames the file. */
ambit_status ambit__save_end(ambit__saving *s)
{
  ambit__net *net;
  ambit_status status;

  if (!s) return AMBIT_OK;
  net = s->context->net;
  ambit__save_tell(s, &s->context->errors);
  status = ambit__net_agree(net);
  for (int turn = 0; !status && turn < 2; turn++) {
    if ((net->rank == 0) == turn) ambit__save_commit(s);
    status = ambit__net_agree(net);
  }
  ambit__save_free(s);
  return status;
}

static ambit_status save(const char *path, int n, ambit_field *const *fields)
{
  ambit__saving *s;

  if (!ambit__save_begin(path, n, fields, &s)) s->write(s);
  return s ? ambit__save_end(s) : ERRORS(fields[0])->status;
}

static ambit_status draw(ambit_field *f, const char *path, const ambit_picture *picture)
{
  ambit__drawing d;

  AMBIT_CHECK(ambit__ends_in(path, ".png"), ERRORS(f), AMBIT_EINVAL,
              "field '%s' cannot be drawn as %s: the name must end in .png", f->name, path);
  AMBIT_TRY(ambit__drawing_make(f, picture, &d));
  return ambit__draw_png(f, &d, path);
}

/* Saves fields, or draws one. In a program that continues from a checkpoint, files from before it
 * are there. */
static ambit_status save_once(const char *path, int n, ambit_field *const *fields, bool draws,
                              const ambit_picture *picture)
{
  ambit__journal *journal = &fields[0]->grid->context->journal;
  ambit_status s;

  AMBIT_TRY(meet(fields[0], draws ? "draws field" : "saves field", path));
  if (ambit__journal_replay(ERRORS(fields[0]), journal, ENTRY_SAVE, NULL, 0))
    return ERRORS(fields[0])->status;
  journal->inside++;
  if (draws || (n == 1 && ambit__ends_in(path, ".png")))
    s = draw(fields[0], path, picture);
  else
    s = save(path, n, fields);
  journal->inside--;
  if (!s) ambit__journal_record(journal, ENTRY_SAVE, NULL, 0);
  return s;
}

ambit_status ambit_field_save(ambit_field *f, const char *path)
{
  return f ? save_once(path, 1, &f, false, NULL) : AMBIT_EINVAL;
}

ambit_status ambit_grid_save(ambit_grid *g, const char *path, int n, ambit_field *const *fields)
{
  if (!g || ambit__failed(g->context)) return g ? g->context->errors.status : AMBIT_EINVAL;
  AMBIT_CHECK(n > 0 && fields && fields[0] && fields[0]->grid == g, &g->context->errors,
              AMBIT_EINVAL, "ambit_grid_save: give one field or more, of this grid");
  return save_once(path, n, fields, false, NULL);
}

ambit_status ambit_field_draw(ambit_field *f, const char *path, const ambit_picture *picture)
{
  return f ? save_once(path, 1, &f, true, picture) : AMBIT_EINVAL;
}

ambit_status ambit_field_load(ambit_field *f, const char *path)
{
  ambit__raster_format format;

  if (!f) return AMBIT_EINVAL;
  AMBIT_TRY(meet(f, "loads field", path));
  if (ambit__ends_in(path, ".npy")) return ambit__field_load_npy(f, path);
  if (ambit__ends_in(path, ".png")) return ambit__field_load_png(f, path);
  if (is_hdf5(path)) return ambit__field_load_hdf5(f, path);
  format = ambit__raster_format_of(path);
  if (format) return ambit__field_load_raster(f, path, format);
  return ambit__raise(
      ERRORS(f), AMBIT_EINVAL,
      "field '%s' cannot be loaded from %s: the name must end in .npy, .vtkhdf, .h5, "
      ".png, .hgt, .asc or .tif",
      f->name, path);
}

/* ---- without a field ---- */

static ambit_status inspect_npy(ambit *a, const char *path, ambit_file_info *info)
{
  ambit__npy_info npy;

  AMBIT_TRY(ambit__npy_read_header(&a->errors, path, &npy));
  AMBIT_CHECK(npy.ndims >= 1, &a->errors, AMBIT_EIO,
              "%s is a single value, without dimensions; a field is an array of 1 to %d", path,
              AMBIT_MAX_DIMS);
  for (int d = 0; d < npy.ndims; d++)
    AMBIT_CHECK(npy.shape[d] >= 1, &a->errors, AMBIT_EIO,
                "%s has no values: the size of axis %d is 0", path, d);
  info->type = npy.type;
  info->ndims = npy.ndims;
  memcpy(info->extents, npy.shape, sizeof info->extents);
  return AMBIT_OK;
}

static ambit_status inspect_raster(ambit *a, const char *path, ambit_file_info *info)
{
  ambit__raster *r;

  AMBIT_TRY(ambit__raster_open(&a->errors, path, ambit__raster_format_of(path), &r));
  info->type = r->type;
  info->ndims = 2;
  info->extents[0] = r->height;
  info->extents[1] = r->width;
  info->unit = r->unit;
  info->has_origin = r->has_origin;
  memcpy(info->spacing, r->spacing, sizeof r->spacing);
  memcpy(info->origin, r->origin, sizeof r->origin);
  ambit__raster_close(r);
  return AMBIT_OK;
}

static ambit_status inspect(ambit *a, const char *path, ambit_file_info *info)
{
  AMBIT_CHECK(path && *path, &a->errors, AMBIT_EINVAL,
              "ambit_file_inspect: the file name is empty");
  *info = (ambit_file_info){0};
  if (ambit__ends_in(path, ".npy")) return inspect_npy(a, path, info);
  if (ambit__ends_in(path, ".png")) return ambit__png_inspect(a, path, info);
  if (is_hdf5(path)) return ambit__hdf5_inspect(a, path, info, NULL);
  return inspect_raster(a, path, info);
}

const ambit_file_info *ambit_file_inspect(ambit *a, const char *path)
{
  if (!a) return NULL;
  if (!ambit__failed(a)) inspect(a, path, &a->inspected);
  /* raises a failure on all */
  return ambit__meet(a, "has inspected a file") ? NULL : &a->inspected;
}
