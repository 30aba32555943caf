/* SPDX-License-Identifier: BSD-3-Clause */
/* field_hdf5.c - fields in HDF5 files (docs/design/0023-output.md).
 *
 * Process 0 writes the metadata (base/container.h), with the place of the values of a field. Then
 * every process writes those of its parts, in pieces. To load files the HDF5 library is needed.
 *
 *   name.h5       /u            a dataset per field, with the attributes origin and spacing
 *   name.vtkhdf   /VTKHDF       ImageData; the last axis is VTK's x
 *                 /VTKHDF/CellData/u, and vtkGhostType, which hides the inactive cells of a sparse
 *                 grid
 */
#include "io/save.h"

#include "base/container.h"
#include "base/file.h"
#include "base/memory.h"
#include "io/hdf5.h"
#include "runtime/objects/pieces.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS(f) (&(f)->grid->context->errors)
#define NET(f)    ((f)->grid->context->net)

#define VTK   "VTKHDF"
#define CELLS "VTKHDF/CellData"
#define GHOST "vtkGhostType"

enum { HIDDEN_CELL = 32, VTK_AXES = 3 };

/* Slashes part names of groups. */
static void dataset_of(const ambit_field *f, bool for_vtk, char path[AMBIT__H5_NAME])
{
  const int n = snprintf(path, AMBIT__H5_NAME, "%s", for_vtk ? CELLS "/" : "");

  snprintf(path + n, (size_t)(AMBIT__H5_NAME - n), "%s", f->name);
  for (char *c = path + n; (c = strchr(c, '/'));)
    *c = '_';
}

static bool is_short_real(ambit_type type)
{
  return type == AMBIT_F16 || type == AMBIT_BF16;
}

/* VTK has no real numbers of 16 bits. */
static ambit_type stored_type(const ambit_field *f, bool for_vtk)
{
  return for_vtk && is_short_real(f->type) ? AMBIT_F32 : f->type;
}

ambit_status ambit__fields_check_hdf5(int n, ambit_field *const *fields, const char *path,
                                      bool for_vtk)
{
  char a[AMBIT__H5_NAME], b[AMBIT__H5_NAME];
  const ambit_grid *g = fields[0]->grid;

  AMBIT_CHECK(!for_vtk || g->box.ndims <= VTK_AXES, &g->context->errors, AMBIT_EINVAL,
              "field '%s' has %d dimensions, and VTK shows 1 to 3: save it as .h5", fields[0]->name,
              g->box.ndims);
  for (int i = 0; for_vtk && i < n; i++)
    AMBIT_TRY(ambit__field_check_whole(fields[i], "VTK shows cells of the whole grid: save it as "
                                                  ".h5 or .npy"));
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++) {
      dataset_of(fields[i], for_vtk, a);
      dataset_of(fields[k], for_vtk, b);
      AMBIT_CHECK(strcmp(a, b), &g->context->errors, AMBIT_EINVAL,
                  "two fields to be saved in %s have the name '%s'; each needs its own", path,
                  fields[i]->name);
    }
  return AMBIT_OK;
}

/* ---- the head of the file ---- */

static bool has_mask(const ambit__saving *s)
{
  return s->is_other && s->fields[0]->grid->active;
}

/* The place of a grid, for VTK: points, not cells, so one more along the axes of the grid. */
typedef struct place {
  double origin[VTK_AXES], spacing[VTK_AXES];
  int64_t extent[2 * VTK_AXES];
} place;

static void make_place(const ambit_grid *g, place *x)
{
  *x = (place){.spacing = {1, 1, 1}};
  for (int d = 0; d < g->box.ndims; d++) {
    const int axis = g->box.ndims - 1 - d;

    x->extent[2 * axis + 1] = g->box.hi[d];
    x->origin[axis] = g->origin[d];
    x->spacing[axis] = g->spacing[d];
  }
}

static ambit_status add_blocks(const ambit__saving *s, ambit__container *c)
{
  const ambit_grid *g = s->fields[0]->grid;
  ambit__errors *errors = &s->context->errors;
  char name[AMBIT__H5_NAME];

  for (int i = 0; i < s->n; i++) {
    const ambit_field *f = s->fields[i];
    int64_t shape[AMBIT_MAX_DIMS + 1];
    const int ndims = ambit__field_shape(f, shape);

    dataset_of(f, s->is_other, name);
    if (!ambit__container_add(errors, c, name, (int)stored_type(f, s->is_other), ndims, shape))
      return AMBIT_ENOMEM;
  }
  if (has_mask(s) &&
      !ambit__container_add(errors, c, CELLS "/" GHOST, AMBIT_U8, g->box.ndims, g->box.hi))
    return AMBIT_ENOMEM;
  return ambit__container_place(errors, c);
}

static ambit_status write_head(ambit__saving *s, ambit__container *c)
{
  char *head = NULL;
  size_t n;
  ambit_status status = add_blocks(s, c);

  if (!status) status = ambit__container_head(&s->context->errors, c, &head, &n);
  if (!status) status = ambit__file_extend(s->file, c->length);
  if (!status) status = ambit__file_write_at(s->file, 0, head, n);
  for (size_t i = 0; !status && i < c->n; i++)
    s->offsets[i] = c->blocks[i].at;
  free(head);
  ambit__container_free(c);
  return status;
}

ambit_status ambit__save_hdf5_head(ambit__saving *s, const char *path)
{
  static const int64_t version[] = {1, 0};
  static const double direction[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const ambit_grid *g = s->fields[0]->grid;
  place x;
  const ambit__attribute plain[] = {{"", "origin", AMBIT_F64, g->box.ndims, g->origin},
                                    {"", "spacing", AMBIT_F64, g->box.ndims, g->spacing}};
  const ambit__attribute vtk[] = {{VTK, "Version", AMBIT_I64, 2, version},
                                  {VTK, "Type", AMBIT__BLOCK_TEXT, 9, "ImageData"},
                                  {VTK, "WholeExtent", AMBIT_I64, 2 * VTK_AXES, x.extent},
                                  {VTK, "Origin", AMBIT_F64, VTK_AXES, x.origin},
                                  {VTK, "Spacing", AMBIT_F64, VTK_AXES, x.spacing},
                                  {VTK, "Direction", AMBIT_F64, 9, direction}};
  ambit__container c = {.attributes = plain, .nattributes = 2};

  AMBIT_CHECK(ambit__file_beside(s->file), &s->context->errors, AMBIT_EIO,
              "%s is a device or a pipe: an HDF5 file is not written from its start to its end. "
              "Use the name of a file",
              path);
  if (s->is_other) {
    make_place(g, &x);
    c.attributes = vtk;
    c.nattributes = sizeof vtk / sizeof *vtk;
  }
  return write_head(s, &c);
}

/* ---- values ---- */

static float *widen(const ambit_field *f, int64_t cells, const uint16_t *from)
{
  const int64_t n = cells * f->components;
  float *to = ambit__new(ERRORS(f), (size_t)n, sizeof *to);

  for (int64_t i = 0; to && i < n; i++)
    to[i] =
        (float)(f->type == AMBIT_F16 ? ambit_half_decode(from[i]) : ambit_bfloat_decode(from[i]));
  return to;
}

static ambit_status put_piece(ambit_field *f, const ambit__box *box, void *dense, void *user)
{
  const ambit__saving *s = user;
  const ambit_type type = stored_type(f, s->is_other);
  float *wide = NULL;
  ambit_status status;

  AMBIT_TRY(ambit__field_read_own(f, box, dense));
  if (type != f->type && !(wide = widen(f, ambit__box_volume(box), dense))) return AMBIT_ENOMEM;
  status = ambit__each_bytes(f, box, wide ? (void *)wide : dense,
                             ambit_type_size(type) * (size_t)f->components, ambit__save_put, user);
  free(wide);
  return status;
}

static ambit_status put_mask(ambit_field *f, const ambit__box *box, void *dense, void *user)
{
  const int last = box->ndims - 1;
  ambit__box row = *box;
  int64_t i = 0;

  memset(dense, HIDDEN_CELL, (size_t)ambit__box_volume(box));
  while (ambit__active_next(f->grid->active, box, &i, &row))
    memset((unsigned char *)dense + ambit__box_number(box, row.lo), 0,
           (size_t)(row.hi[last] - row.lo[last]));
  return ambit__each_bytes(f, box, dense, 1, ambit__save_put, user);
}

ambit_status ambit__save_hdf5_write(ambit__saving *s)
{
  for (s->field = 0; s->field < s->n; s->field++)
    AMBIT_TRY(ambit__each_own_piece(s->fields[s->field], true, put_piece, s));
  return has_mask(s) ? ambit__each_own_piece(s->fields[0], true, put_mask, s) : AMBIT_OK;
}

/* ---- loading ---- */

/* The datasets of the values of cells: their group. */
static const char *group_of(ambit__h5 *h)
{
  return ambit__h5_has(h, CELLS) ? CELLS : "/";
}

static void join(const char *group, const char *name, char path[2 * AMBIT__H5_NAME])
{
  snprintf(path, 2 * AMBIT__H5_NAME, "%s%s%s", group, strcmp(group, "/") ? "/" : "", name);
}

/* The only dataset of the file; else all of their names, as a list. Returns their number. */
static int list_datasets(ambit__h5 *h, char only[2 * AMBIT__H5_NAME], char *list, size_t bytes)
{
  const char *group = group_of(h);
  char name[AMBIT__H5_NAME];
  int n = 0;

  list[0] = '\0';
  for (int i = 0; ambit__h5_dataset_name(h, group, i, name); i++) {
    const size_t used = strlen(list);

    if (!strcmp(name, GHOST)) continue;
    if (!n++) join(group, name, only);
    snprintf(list + used, bytes - used, "%s%s", used ? ", " : "", name);
  }
  return n;
}

/* The dataset with the name of the field, or the only one. */
static ambit_status find_dataset(ambit__errors *errors, ambit__h5 *h, const ambit_field *f,
                                 const char *path, char dataset[2 * AMBIT__H5_NAME])
{
  char list[600];
  int n;

  dataset_of(f, !strcmp(group_of(h), CELLS), dataset);
  if (ambit__h5_has(h, dataset)) return AMBIT_OK;
  n = list_datasets(h, dataset, list, sizeof list);
  AMBIT_CHECK(n, errors, AMBIT_EIO, "%s has no dataset in %s", path, group_of(h));
  AMBIT_CHECK(n == 1, errors, AMBIT_EIO,
              "%s has the datasets %s, and none has the name of field '%s'", path, list, f->name);
  return AMBIT_OK;
}

typedef struct loading {
  ambit__h5 *h;
  char dataset[2 * AMBIT__H5_NAME];
  ambit_type type; /* of the file */
  int extra;       /* axes of length 1 before those of the grid */
} loading;

static ambit_status check_shape(const ambit_field *f, const char *path, const ambit__h5_info *info,
                                loading *l)
{
  int64_t shape[AMBIT_MAX_DIMS + 1];
  const int ndims = ambit__field_shape(f, shape);

  AMBIT_CHECK(info->type == f->type || (is_short_real(f->type) && info->type == AMBIT_F32),
              ERRORS(f), AMBIT_EIO, "%s: %s has values of type %s, but field '%s' is %s", path,
              l->dataset, ambit_type_name(info->type), f->name, ambit_type_name(f->type));
  l->extra = 0;
  while (l->extra < info->ndims - ndims && info->shape[l->extra] == 1)
    l->extra++;
  AMBIT_CHECK(info->ndims - l->extra == ndims, ERRORS(f), AMBIT_EIO,
              "%s: %s has %d dimensions, but field '%s' needs %d%s", path, l->dataset, info->ndims,
              f->name, ndims, f->components > 1 ? " (the last one is the component)" : "");
  for (int d = 0; d < ndims; d++)
    AMBIT_CHECK(info->shape[l->extra + d] == shape[d], ERRORS(f), AMBIT_EIO,
                "%s: %s has %" PRId64 " values along dimension %d, but field '%s' needs %" PRId64,
                path, l->dataset, info->shape[l->extra + d], l->extra + d, f->name, shape[d]);
  l->type = info->type;
  return AMBIT_OK;
}

static void narrow(const ambit_field *f, int64_t cells, const float *from, uint16_t *to)
{
  const int64_t n = cells * f->components;

  for (int64_t i = 0; i < n; i++)
    to[i] = f->type == AMBIT_F16 ? ambit_half_encode((double)from[i])
                                 : ambit_bfloat_encode((double)from[i]);
}

static ambit_status get_piece(ambit_field *f, const ambit__box *box, void *dense, void *user)
{
  const loading *l = user;
  int64_t lo[AMBIT__H5_DIMS] = {0}, count[AMBIT__H5_DIMS];
  const int64_t cells = ambit__box_volume(box);
  float *wide = NULL;
  ambit_status s;

  for (int d = 0; d < AMBIT__H5_DIMS; d++)
    count[d] = 1;
  for (int d = 0; d < box->ndims; d++) {
    lo[l->extra + d] = box->lo[d];
    count[l->extra + d] = box->hi[d] - box->lo[d];
  }
  count[l->extra + box->ndims] = f->components;
  if (l->type != f->type) {
    AMBIT_NEW(ERRORS(f), wide, (size_t)(cells * f->components));
  }
  s = ambit__h5_read(l->h, l->dataset, l->type, lo, count, wide ? wide : dense);
  if (!s && wide) narrow(f, cells, wide, dense);
  free(wide);
  return s ? s : ambit_field_write(f, box->lo, box->hi, dense);
}

static ambit_status load(ambit_field *f, const char *path, loading *l)
{
  ambit__h5_info info;

  AMBIT_TRY(ambit__h5_open(ERRORS(f), path, &l->h));
  AMBIT_TRY(find_dataset(ERRORS(f), l->h, f, path, l->dataset));
  AMBIT_TRY(ambit__h5_inspect(l->h, l->dataset, &info));
  return check_shape(f, path, &info, l);
}

ambit_status ambit__field_load_hdf5(ambit_field *f, const char *path)
{
  loading l = {.h = NULL};
  ambit_status s;

  load(f, path, &l);
  s = ambit__net_agree(NET(f));
  if (!s) {
    ambit__field_changed(f);
    ambit__each_own_piece(f, false, get_piece, &l);
    s = ambit__meet(f->grid->context, "has loaded a file");
  }
  ambit__h5_close(l.h);
  return s;
}

/* ---- without a field ---- */

/* The place of the grid, in our order of axes: attributes of the file, in VTK's order, or of the
 * dataset. Returns whether there are such. */
static bool get_numbers(ambit__h5 *h, const char *dataset, int ndims, const char *name,
                        const char *vtk_name, double *values)
{
  double vtk[VTK_AXES];

  if (strncmp(dataset, VTK, strlen(VTK)))
    return ambit__h5_has_attribute(h, dataset, name) &&
           !ambit__h5_get_numbers(h, dataset, name, AMBIT_F64, ndims, values);
  if (ndims > VTK_AXES || !ambit__h5_has_attribute(h, VTK, vtk_name) ||
      ambit__h5_get_numbers(h, VTK, vtk_name, AMBIT_F64, VTK_AXES, vtk))
    return false;
  for (int d = 0; d < ndims; d++)
    values[d] = vtk[ndims - 1 - d];
  return true;
}

/* Axes of cells in a dataset: VTK's file says it; else all are. */
static int axes_of(ambit__h5 *h, const char *dataset, const ambit__h5_info *info)
{
  int64_t extent[2 * VTK_AXES];
  int n = 0;

  if (strncmp(dataset, VTK, strlen(VTK)) ||
      ambit__h5_get_numbers(h, VTK, "WholeExtent", AMBIT_I64, 2 * VTK_AXES, extent))
    return info->ndims;
  for (int axis = 0; axis < VTK_AXES; axis++)
    n += extent[2 * axis + 1] > extent[2 * axis];
  return n < info->ndims ? n : info->ndims;
}

static ambit_status inspect(ambit *a, const char *path, ambit__h5 *h, ambit_file_info *info,
                            double *origin)
{
  char dataset[2 * AMBIT__H5_NAME], list[600];
  ambit__h5_info form;
  int axes;

  AMBIT_CHECK(list_datasets(h, dataset, list, sizeof list), &a->errors, AMBIT_EIO,
              "%s has no dataset in %s", path, group_of(h));
  AMBIT_TRY(ambit__h5_inspect(h, dataset, &form));
  AMBIT_CHECK(form.ndims >= 1 && form.ndims <= AMBIT_MAX_DIMS + 1, &a->errors, AMBIT_EIO,
              "%s: %s has %d dimensions; a field has 1 to %d, and one for its components", path,
              dataset, form.ndims, AMBIT_MAX_DIMS);
  info->type = form.type;
  info->ndims = form.ndims;
  memcpy(info->extents, form.shape, sizeof info->extents);
  axes = axes_of(h, dataset, &form);
  for (int d = 0; d < axes; d++)
    origin[d] = 0;
  if (axes > AMBIT_MAX_DIMS) return AMBIT_OK;
  if (get_numbers(h, dataset, axes, "spacing", "Spacing", info->spacing))
    get_numbers(h, dataset, axes, "origin", "Origin", origin);
  return a->errors.status;
}

ambit_status ambit__hdf5_inspect(ambit *a, const char *path, ambit_file_info *info, double *origin)
{
  double place[AMBIT_MAX_DIMS + 1];
  ambit_status s;
  ambit__h5 *h;

  *info = (ambit_file_info){0};
  AMBIT_TRY(ambit__h5_open(&a->errors, path, &h));
  s = inspect(a, path, h, info, origin ? origin : place);
  ambit__h5_close(h);
  return s;
}
