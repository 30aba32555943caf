/* SPDX-License-Identifier: BSD-3-Clause */
/* load_sparse.c - sparse grids whose active cells are those of a file: an array or a picture. */
#include "base/memory.h"
#include "io/frames.h"
#include "io/npy.h"
#include "io/png.h"
#include "runtime/objects/objects.h"

#include <stdlib.h>
#include <string.h>

/* ---- arrays ---- */

typedef struct array {
  ambit__errors *errors;
  ambit__npy_info info;
  ambit__npy_reader *reader;
} array;

static ambit_status load_array(void *user, const ambit__box *planes, unsigned char *active)
{
  const array *x = user;
  const size_t size = ambit_type_size(x->info.type), n = (size_t)ambit__box_volume(planes);
  unsigned char *values = ambit__new(x->errors, n, size);
  ambit_status s = values ? ambit__npy_next(x->reader, values, n * size) : AMBIT_ENOMEM;

  for (size_t i = 0; !s && i < n; i++)
    active[i] =
        ambit__value_is_true(ambit__value_load(values + i * size, x->info.type), x->info.type);
  free(values);
  return s;
}

static ambit_status check_shape(ambit__errors *errors, const char *path,
                                const ambit__npy_info *info)
{
  AMBIT_CHECK(info->ndims >= 1 && info->ndims <= AMBIT_MAX_DIMS, errors, AMBIT_EIO,
              "%s has %d axes; the mask of a grid has 1 to %d", path, info->ndims, AMBIT_MAX_DIMS);
  for (int d = 0; d < info->ndims; d++)
    AMBIT_CHECK(info->shape[d] > 0, errors, AMBIT_EIO, "%s has no values along axis %d", path, d);
  return AMBIT_OK;
}

static ambit_grid *from_array(ambit *a, const char *path)
{
  array x = {.errors = &a->errors};
  const ambit__mask mask = {.load = load_array, .user = &x};
  ambit_grid *g = NULL;

  if (!ambit__npy_open(&a->errors, path, &x.info, &x.reader) &&
      !check_shape(&a->errors, path, &x.info))
    g = ambit__grid_sparse(a, x.info.ndims, x.info.shape, &mask);
  ambit__npy_close(x.reader);
  return g;
}

/* ---- pictures ---- */

typedef struct picture {
  ambit__frame_form form;
  ambit__drawn drawn;   /* by Ambit: a cell is several pixels */
  unsigned char *bytes; /* its planes */
} picture;

static ambit_status load_picture(void *user, const ambit__box *planes, unsigned char *active)
{
  const picture *x = user;
  const unsigned char zero[] = {x->drawn.zero.r, x->drawn.zero.g, x->drawn.zero.b};

  for (int64_t i = planes->lo[0]; i < planes->hi[0]; i++)
    for (int64_t k = 0; k < planes->hi[1]; k++, active++) {
      const int64_t pixel = i * x->drawn.zoom_y * x->form.width[0] + k * x->drawn.zoom_x;

      *active = 0;
      for (int p = 0; p < x->form.nplanes; p++)
        *active |= x->bytes[(size_t)p * ambit__plane_bytes(&x->form, 0) + (size_t)pixel] != zero[p];
    }
  return AMBIT_OK;
}

static ambit_status open_picture(ambit *a, const char *path, picture *x)
{
  AMBIT_TRY(ambit__png_form(&a->errors, path, false, &x->form, &x->drawn));
  AMBIT_CHECK(!x->drawn.averaged, &a->errors, AMBIT_EIO,
              "%s was drawn by ambit_field_save, and has means of several cells: save the mask as "
              ".npy",
              path);
  x->bytes = ambit__new(&a->errors, x->form.bytes, 1);
  if (!x->bytes) return AMBIT_ENOMEM;
  return ambit__png_read(&a->errors, path, &x->form, x->bytes);
}

static ambit_grid *from_picture(ambit *a, const char *path)
{
  picture x = {.bytes = NULL};
  const ambit__mask mask = {.load = load_picture, .user = &x};
  ambit_grid *g = NULL;

  if (!open_picture(a, path, &x)) {
    const int64_t extents[] = {x.form.height[0] / x.drawn.zoom_y, x.form.width[0] / x.drawn.zoom_x};

    g = ambit__grid_sparse(a, 2, extents, &mask);
  }
  free(x.bytes);
  return g;
}

ambit_grid *ambit_grid_load_sparse(ambit *a, const char *path)
{
  const size_t n = path ? strlen(path) : 0;

  if (ambit__failed(a)) return NULL;
  if (n > 4 && !strcmp(path + n - 4, ".npy")) return from_array(a, path);
  if (n > 4 && !strcmp(path + n - 4, ".png")) return from_picture(a, path);
  ambit__raise(&a->errors, AMBIT_EINVAL,
               "a sparse grid cannot be loaded from '%s': the name must end in .npy or .png",
               path ? path : "");
  return NULL;
}
