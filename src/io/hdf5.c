/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5.c - calls of the HDF5 library, each between enter() and leave().
 *
 * The library may not be thread-safe, so one lock guards all calls. In place of printing errors it
 * calls note_reason(), and the innermost message of the first becomes part of ours.
 */
#include "io/hdf5.h"

#include "base/memory.h"
#include "io/hdf5_api.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ambit__h5 {
  ambit__errors *errors;
  char *path;      /* for messages */
  ambit__hid file; /* -1: not open */
  ambit__hid half; /* types of 16 bits, made when the file is opened */
  ambit__hid bfloat;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ambit__h5_print_fn old_print; /* of the program; restored after each call */
static void *old_user;

const char *ambit__h5_why_not(void)
{
  const char *why;

  ambit__h5_load(&why);
  return why;
}

/* ---- calls ---- */

enum { REASON = 400 };
static char reason[REASON]; /* of the first failure since enter(), as the library says it */

static int keep_innermost(unsigned n, const ambit__h5_error *error, void *user)
{
  (void)user;
  if (n == 0) snprintf(reason, sizeof reason, "%s", error->text ? error->text : "");
  return 0;
}

static int note_reason(ambit__hid stack, void *user)
{
  const ambit__h5_api *c = user;

  if (!reason[0]) c->H5Ewalk2(stack, AMBIT__H5_WALK_UPWARD, keep_innermost, NULL);
  return 0;
}

static const ambit__h5_api *enter(void)
{
  const char *why;
  const ambit__h5_api *c = ambit__h5_load(&why);

  pthread_mutex_lock(&lock);
  reason[0] = '\0';
  c->H5Eget_auto2(AMBIT__H5_STACK, &old_print, &old_user);
  c->H5Eset_auto2(AMBIT__H5_STACK, note_reason, (void *)c);
  return c;
}

/* Closes whatever was opened; -1: nothing. */
static void drop(const ambit__h5_api *c, ambit__hid id)
{
  if (id >= 0) c->H5Idec_ref(id);
}

/* Closes `id`. */
static void leave(const ambit__h5_api *c, ambit__hid id)
{
  drop(c, id);
  c->H5Eset_auto2(AMBIT__H5_STACK, old_print, old_user);
  pthread_mutex_unlock(&lock);
}

static ambit_status fail(const ambit__h5 *h, const char *what, const char *name)
{
  return ambit__raise(h->errors, AMBIT_EIO, "%s: HDF5 cannot %s%s%s%s%s", h->path, what,
                      name ? " " : "", name ? name : "", reason[0] ? ": " : "", reason);
}

/* ---- types ---- */

/* A floating-point type of 16 bits, from float. */
static ambit__hid make_short_float(const ambit__h5_api *c, size_t exponent, size_t bias)
{
  const ambit__hid t = c->H5Tcopy(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? c->H5T_IEEE_F32BE_g
                                                                         : c->H5T_IEEE_F32LE_g);
  const size_t mantissa = 15 - exponent;

  if (t < 0) return t;
  if (c->H5Tset_fields(t, 15, mantissa, exponent, 0, mantissa) >= 0 && c->H5Tset_size(t, 2) >= 0 &&
      c->H5Tset_ebias(t, bias) >= 0)
    return t;
  drop(c, t);
  return -1;
}

static ambit__hid type_of(const ambit__h5_api *c, const ambit__h5 *h, ambit_type type)
{
  switch (type) {
  case AMBIT_F32: return c->H5T_NATIVE_FLOAT_g;
  case AMBIT_F64: return c->H5T_NATIVE_DOUBLE_g;
  case AMBIT_I32: return c->H5T_NATIVE_INT32_g;
  case AMBIT_U8: return c->H5T_NATIVE_UINT8_g;
  case AMBIT_I16: return c->H5T_NATIVE_INT16_g;
  case AMBIT_I64: return c->H5T_NATIVE_INT64_g;
  case AMBIT_U16: return c->H5T_NATIVE_UINT16_g;
  case AMBIT_U32: return c->H5T_NATIVE_UINT32_g;
  case AMBIT_U64: return c->H5T_NATIVE_UINT64_g;
  case AMBIT_F16: return h->half;
  case AMBIT_BF16: return h->bfloat;
  }
  return -1;
}

static bool find_real(const ambit__h5_api *c, ambit__hid t, ambit__h5_info *info)
{
  const size_t bytes = c->H5Tget_size(t), bias = c->H5Tget_ebias(t);

  info->is_same = true;
  info->type = bytes == 2   ? (bias == 127 ? AMBIT_BF16 : AMBIT_F16)
               : bytes == 4 ? AMBIT_F32
                            : AMBIT_F64;
  return bytes == 2 || bytes == 4 || bytes == 8;
}

/* Signed bytes are read into shorts. */
static bool find_integer(const ambit__h5_api *c, ambit__hid t, ambit__h5_info *info)
{
  const size_t bytes = c->H5Tget_size(t);
  const bool is_signed = c->H5Tget_sign(t) != AMBIT__H5_UNSIGNED;

  info->is_same = !is_signed || bytes > 1;
  switch (bytes) {
  case 1: info->type = is_signed ? AMBIT_I16 : AMBIT_U8; return true;
  case 2: info->type = is_signed ? AMBIT_I16 : AMBIT_U16; return true;
  case 4: info->type = is_signed ? AMBIT_I32 : AMBIT_U32; return true;
  case 8: info->type = is_signed ? AMBIT_I64 : AMBIT_U64; return true;
  default: return false;
  }
}

/* Whether one of our types holds the values of a type of the file. */
static bool find_type(const ambit__h5_api *c, ambit__hid t, ambit__h5_info *info)
{
  ambit__hid base;
  bool found;

  switch (c->H5Tget_class(t)) {
  case AMBIT__H5_CLASS_FLOAT: return find_real(c, t, info);
  case AMBIT__H5_CLASS_INTEGER: return find_integer(c, t, info);
  case AMBIT__H5_CLASS_ENUM: /* bool of h5py: 0 and 1 in signed bytes */
    base = c->H5Tget_super(t);
    found = base >= 0 && c->H5Tget_size(base) == 1;
    drop(c, base);
    info->type = AMBIT_U8;
    info->is_same = true;
    return found;
  default: return false;
  }
}

/* ---- files ---- */

static ambit_status make(ambit__errors *errors, const char *path, ambit__h5 **out)
{
  const char *why = ambit__h5_why_not();

  *out = NULL;
  AMBIT_CHECK(!why[0], errors, AMBIT_EUNSUPPORTED, "%s: %s", path, why);
  AMBIT_NEW(errors, *out, 1);
  **out = (ambit__h5){.errors = errors, .file = -1, .half = -1, .bfloat = -1};
  (*out)->path = ambit__strdup(errors, path);
  if ((*out)->path) return AMBIT_OK;
  free(*out);
  *out = NULL;
  return AMBIT_ENOMEM;
}

static ambit_status open_file(const ambit__h5_api *c, ambit__h5 *h)
{
  const ambit__hid access = c->H5Pcreate(c->H5P_CLS_FILE_ACCESS_ID_g);

  h->half = make_short_float(c, 5, 15);
  h->bfloat = make_short_float(c, 8, 127);
  if (access >= 0 && c->H5Pset_file_locking(access, true, true) >= 0)
    h->file = c->H5Fopen(h->path, AMBIT__H5_READ_ONLY, access);
  drop(c, access);
  if (h->file >= 0 && h->half >= 0 && h->bfloat >= 0) return AMBIT_OK;
  return fail(h, "open the file", NULL);
}

ambit_status ambit__h5_open(ambit__errors *errors, const char *path, ambit__h5 **out)
{
  const ambit__h5_api *c;
  ambit_status s;

  AMBIT_TRY(make(errors, path, out));
  c = enter();
  s = open_file(c, *out);
  leave(c, -1);
  if (!s) return AMBIT_OK;
  ambit__h5_close(*out);
  *out = NULL;
  return s;
}

void ambit__h5_close(ambit__h5 *h)
{
  const ambit__h5_api *c;

  if (!h) return;
  c = enter();
  drop(c, h->half);
  drop(c, h->bfloat);
  if (h->file >= 0) c->H5Fclose(h->file);
  leave(c, -1);
  free(h->path);
  free(h);
}

/* ---- reading ---- */

bool ambit__h5_has(ambit__h5 *h, const char *object)
{
  const ambit__h5_api *c = enter();
  const ambit__hid id = c->H5Oopen(h->file, object, AMBIT__H5_DEFAULT);

  leave(c, id);
  return id >= 0;
}

bool ambit__h5_has_attribute(ambit__h5 *h, const char *object, const char *name)
{
  const ambit__h5_api *c = enter();
  const int found = c->H5Aexists_by_name(h->file, object, name, AMBIT__H5_DEFAULT);

  leave(c, -1);
  return found > 0;
}

static ambit_status inspect(const ambit__h5_api *c, const ambit__h5 *h, ambit__hid id,
                            const char *name, ambit__h5_info *info)
{
  const ambit__hid space = c->H5Dget_space(id), type = c->H5Dget_type(id);
  ambit__hsize sizes[AMBIT__H5_DIMS] = {0};
  bool is_known = false;

  info->ndims = space >= 0 ? c->H5Sget_simple_extent_ndims(space) : -1;
  if (info->ndims >= 0 && info->ndims <= AMBIT__H5_DIMS) {
    c->H5Sget_simple_extent_dims(space, sizes, NULL);
    is_known = type >= 0 && find_type(c, type, info);
  }
  for (int d = 0; d < AMBIT__H5_DIMS; d++)
    info->shape[d] = (int64_t)sizes[d];
  drop(c, space);
  drop(c, type);
  AMBIT_CHECK(is_known, h->errors, AMBIT_EIO,
              "%s: the dataset %s is not an array, of at most %d dimensions, of a type that Ambit "
              "has: integers of at most 64 bits with a sign, or real numbers of 16, 32 or 64 bits",
              h->path, name, AMBIT__H5_DIMS);
  return AMBIT_OK;
}

ambit_status ambit__h5_inspect(ambit__h5 *h, const char *dataset, ambit__h5_info *info)
{
  const ambit__h5_api *c = enter();
  const ambit__hid id = c->H5Dopen2(h->file, dataset, AMBIT__H5_DEFAULT);
  ambit_status s;

  *info = (ambit__h5_info){.ndims = 0};
  s = id < 0 ? fail(h, "open the dataset", dataset) : inspect(c, h, id, dataset, info);
  leave(c, id);
  return s;
}

/* Selects the box in `space`; returns the space of the array in memory, or a negative number. */
static ambit__hid select_box(const ambit__h5_api *c, ambit__hid space, const int64_t *lo,
                             const int64_t *count)
{
  const int n = c->H5Sget_simple_extent_ndims(space);
  ambit__hsize start[AMBIT__H5_DIMS] = {0}, size[AMBIT__H5_DIMS] = {0};

  if (n < 0 || n > AMBIT__H5_DIMS) return -1;
  if (!lo || !n) return AMBIT__H5_ALL;
  for (int d = 0; d < n; d++) {
    start[d] = (ambit__hsize)lo[d];
    size[d] = (ambit__hsize)count[d];
  }
  if (c->H5Sselect_hyperslab(space, AMBIT__H5_SELECT_SET, start, NULL, size, NULL) < 0) return -1;
  return c->H5Screate_simple(n, size, NULL);
}

static bool read_box(const ambit__h5_api *c, ambit__hid id, ambit__hid type, const int64_t *lo,
                     const int64_t *count, void *values)
{
  const ambit__hid space = c->H5Dget_space(id);
  const ambit__hid memory = space < 0 ? -1 : select_box(c, space, lo, count);
  const ambit__hid from = memory == AMBIT__H5_ALL ? AMBIT__H5_ALL : space;
  const bool done =
      memory >= 0 && c->H5Dread(id, type, memory, from, AMBIT__H5_DEFAULT, values) >= 0;

  if (memory != AMBIT__H5_ALL) drop(c, memory);
  drop(c, space);
  return done;
}

ambit_status ambit__h5_read(ambit__h5 *h, const char *dataset, ambit_type type, const int64_t *lo,
                            const int64_t *count, void *values)
{
  const ambit__h5_api *c = enter();
  const ambit__hid id = c->H5Dopen2(h->file, dataset, AMBIT__H5_DEFAULT);
  const bool done = id >= 0 && read_box(c, id, type_of(c, h, type), lo, count, values);
  const ambit_status s = done ? AMBIT_OK : fail(h, "read the dataset", dataset);

  leave(c, id);
  return s;
}

ambit_status ambit__h5_get_numbers(ambit__h5 *h, const char *object, const char *name,
                                   ambit_type type, int n, void *values)
{
  const ambit__h5_api *c = enter();
  const ambit__hid id =
      c->H5Aopen_by_name(h->file, object, name, AMBIT__H5_DEFAULT, AMBIT__H5_DEFAULT);
  const ambit__hid space = id < 0 ? -1 : c->H5Aget_space(id);
  const bool done = space >= 0 && c->H5Sget_simple_extent_npoints(space) == n &&
                    c->H5Aread(id, type_of(c, h, type), values) >= 0;
  const ambit_status s = done ? AMBIT_OK : fail(h, "read the numbers of the attribute", name);

  drop(c, space);
  leave(c, id);
  return s;
}

static bool is_dataset(const ambit__h5_api *c, const ambit__h5 *h, const char *group,
                       const char *name)
{
  char path[2 * AMBIT__H5_NAME + 2];
  ambit__hid id;
  bool found;

  snprintf(path, sizeof path, "%.*s/%s", AMBIT__H5_NAME, group, name);
  id = c->H5Oopen(h->file, path, AMBIT__H5_DEFAULT);
  found = id >= 0 && c->H5Iget_type(id) == AMBIT__H5_IS_DATASET;
  drop(c, id);
  return found;
}

bool ambit__h5_dataset_name(ambit__h5 *h, const char *group, int i, char name[AMBIT__H5_NAME])
{
  const ambit__h5_api *c = enter();
  ambit__h5_group_info info = {.links = 0};
  bool found = false;

  if (c->H5Gget_info_by_name(h->file, group, &info, AMBIT__H5_DEFAULT) < 0) info.links = 0;
  for (ambit__hsize k = 0; k < info.links && !found; k++) {
    const ssize_t n =
        c->H5Lget_name_by_idx(h->file, group, AMBIT__H5_INDEX_NAME, AMBIT__H5_INCREASING, k, name,
                              AMBIT__H5_NAME, AMBIT__H5_DEFAULT);

    if (n < 0 || n >= AMBIT__H5_NAME) continue;
    found = is_dataset(c, h, group, name) && i-- == 0;
  }
  leave(c, -1);
  return found;
}
