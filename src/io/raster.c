/* SPDX-License-Identifier: BSD-3-Clause */
/* raster.c - opens elevation files, reads values in blocks, and marks cells without data. */
#include "io/raster.h"

#include "base/file.h"
#include "base/integers.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening ---- */

static ambit_status open_file(ambit__raster *r)
{
  struct stat st;

  r->fd = open(r->path, O_RDONLY | O_CLOEXEC);
  AMBIT_CHECK(r->fd >= 0, r->errors, AMBIT_EIO, "cannot open %s: %s", r->path, strerror(errno));
  AMBIT_CHECK(!fstat(r->fd, &st) && S_ISREG(st.st_mode), r->errors, AMBIT_EIO,
              "%s is not a regular file; elevation files are not read from pipes", r->path);
  r->bytes = (int64_t)st.st_size;
  return AMBIT_OK;
}

/* A spacing that is no distance is unknown, and so is an origin that is no place. */
static void check_place(ambit__raster *r)
{
  for (int d = 0; d < 2; d++) {
    if (!(isnormal(r->spacing[d]) && r->spacing[d] > 0)) r->spacing[d] = 0;
    if (!isfinite(r->origin[d]) || r->spacing[d] == 0) r->has_origin = false;
  }
  for (int d = 0; d < 2 && !r->has_origin; d++)
    r->origin[d] = 0;
}

ambit_status ambit__raster_open(ambit__errors *errors, const char *path,
                                ambit__raster_format format, ambit__raster **out)
{
  static ambit_status (*const formats[])(ambit__raster * r) = {
      [RASTER_HGT] = ambit__raster_open_hgt,
      [RASTER_ASC] = ambit__raster_open_asc,
      [RASTER_TIFF] = ambit__raster_open_tiff,
  };
  ambit__raster *r = ambit__new(errors, 1, sizeof *r);
  ambit_status s = AMBIT_ENOMEM;

  *out = NULL;
  if (!r) return s;
  r->errors = errors;
  r->fd = -1;
  r->path = ambit__strdup(errors, path);
  if (r->path && format == RASTER_NONE)
    s = ambit__raise(errors, AMBIT_EINVAL,
                     "%s: the name must end in .npy, .png, .hgt, .asc or .tif", path);
  else if (r->path)
    s = open_file(r);
  if (!s) s = formats[format](r);
  if (!s) check_place(r);
  if (s)
    ambit__raster_close(r);
  else
    *out = r;
  return s;
}

void ambit__raster_close(ambit__raster *r)
{
  if (!r) return;
  if (r->close) r->close(r);
  if (r->fd >= 0) close(r->fd);
  free(r->path);
  free(r);
}

/* ---- reading ---- */

ambit_status ambit__raster_get(ambit__raster *r, int64_t at, void *bytes, size_t n)
{
  AMBIT_CHECK(at >= 0 && at <= r->bytes && n <= (uint64_t)(r->bytes - at), r->errors, AMBIT_EIO,
              "%s is truncated: %zu bytes at %" PRId64 " are behind its end, at %" PRId64, r->path,
              n, at, r->bytes);
  return ambit__file_read_at(r->errors, r->fd, r->path, (uint64_t)at, bytes, n);
}

ambit_status ambit__raster_row(ambit__raster *r, int64_t row, double *values)
{
  AMBIT_TRY(r->read(r, row, values));
  for (int64_t x = 0; x < r->width; x++)
    if (isnan(values[x]) || (r->has_nodata && values[x] == r->nodata))
      values[x] = AMBIT__RASTER_WALL;
  return AMBIT_OK;
}

/* ---- values ---- */

ambit_status ambit__raster_set_type(ambit__raster *r, char kind, int bits)
{
  static const struct {
    char kind;
    int bits;
    ambit_type type;
  } types[] = {{'u', 8, AMBIT_U8},   {'i', 8, AMBIT_I16},  {'u', 16, AMBIT_I32},
               {'i', 16, AMBIT_I16}, {'u', 32, AMBIT_I64}, {'i', 32, AMBIT_I32},
               {'f', 32, AMBIT_F32}, {'f', 64, AMBIT_F64}};

  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].kind == kind && types[i].bits == bits) {
      r->type = types[i].type;
      return AMBIT_OK;
    }
  return ambit__raise(r->errors, AMBIT_EUNSUPPORTED,
                      "%s has %s of %d bits; Ambit reads whole numbers of 8, 16 and 32 bits, and "
                      "real numbers of 32 and 64",
                      r->path,
                      kind == 'f'   ? "real numbers"
                      : kind == '?' ? "complex numbers or values of no known kind"
                                    : "whole numbers",
                      bits);
}

static double number(uint64_t u, char kind, int bits)
{
  const uint64_t sign = (uint64_t)1 << (bits - 1);
  double d;
  float f;

  if (kind == 'u') return (double)u;
  if (kind == 'i') return u & sign ? (double)(u - sign) - (double)sign : (double)u;
  if (bits == 64) {
    memcpy(&d, &u, sizeof d);
    return d;
  }
  memcpy(&f, &(uint32_t){(uint32_t)u}, sizeof f);
  return f;
}

void ambit__raster_decode(const unsigned char *bytes, int64_t n, char kind, int bits,
                          bool big_endian, double *values)
{
  const int size = bits / 8;

  for (int64_t i = 0; i < n; i++, bytes += size) {
    uint64_t u = 0;

    for (int k = 0; k < size; k++)
      u = u << 8 | bytes[big_endian ? k : size - 1 - k];
    values[i] = number(u, kind, bits);
  }
}

/* ---- blocks ---- */

typedef struct blocks {
  ambit__raster_blocks form;
  unsigned char *row; /* one row of a block */
} blocks;

static ambit_status read_blocks(ambit__raster *r, int64_t row, double *values)
{
  const blocks *own = r->own;
  const ambit__raster_blocks *b = &own->form;
  const int64_t *at = b->at + row / b->height * b->across;
  const int64_t size = b->bits / 8;

  for (int64_t i = 0; i < b->across; i++) {
    const int64_t n = ambit__min64(r->width - i * b->width, b->width); /* within the raster */

    AMBIT_TRY(ambit__raster_get(r, at[i] + row % b->height * b->width * size, own->row,
                                (size_t)(n * size)));
    ambit__raster_decode(own->row, n, b->kind, b->bits, b->big_endian, values + i * b->width);
  }
  return AMBIT_OK;
}

static void close_blocks(ambit__raster *r)
{
  blocks *own = r->own;

  if (!own) return;
  free(own->form.at);
  free(own->row);
  free(own);
}

/* The rows that a raster has of each block lie within the file. */
static ambit_status check_blocks(const ambit__raster *r, const ambit__raster_blocks *b)
{
  const int64_t down = (r->height + b->height - 1) / b->height, size = b->bits / 8;

  AMBIT_CHECK(r->width <= r->bytes / size / r->height, r->errors, AMBIT_EIO,
              "%s is truncated: it has %" PRId64 " bytes, too few for %" PRId64 " x %" PRId64
              " values of %" PRId64,
              r->path, r->bytes, r->height, r->width, size);
  for (int64_t i = 0; i < down * b->across; i++) {
    const int64_t first = i / b->across * b->height;
    const int64_t rows = r->height - first < b->height ? r->height - first : b->height;

    AMBIT_CHECK(b->at[i] >= 0 && b->at[i] <= r->bytes &&
                    b->width <= (r->bytes - b->at[i]) / size / rows,
                r->errors, AMBIT_EIO,
                "%s is truncated: its block %" PRId64 ", of %" PRId64 " x %" PRId64
                " values, begins at byte %" PRId64 " of %" PRId64,
                r->path, i, rows, b->width, b->at[i], r->bytes);
  }
  return AMBIT_OK;
}

ambit_status ambit__raster_use_blocks(ambit__raster *r, const ambit__raster_blocks *b)
{
  blocks *own = ambit__new(r->errors, 1, sizeof *own);

  if (!own) {
    free(b->at);
    return AMBIT_ENOMEM;
  }
  own->form = *b;
  r->own = own;
  r->close = close_blocks;
  r->read = read_blocks;
  AMBIT_TRY(ambit__raster_set_type(r, b->kind, b->bits));
  AMBIT_TRY(check_blocks(r, b));
  own->row = ambit__new(r->errors, (size_t)b->width, (size_t)b->bits / 8);
  return own->row ? AMBIT_OK : AMBIT_ENOMEM;
}

/* ---- SRTM ---- */

/* "N46E007", with anything behind it: the south-west corner, in whole degrees. */
static bool parse_srtm_name(const char *path, int *latitude, int *longitude)
{
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *digits = "0123456789";

  if (!*name || !strchr("NSns", *name) || strspn(name + 1, digits) != 2 || !name[3] ||
      !strchr("EWew", name[3]) || strspn(name + 4, digits) != 3)
    return false;
  *latitude = atoi(name + 1) * (strchr("Ss", *name) ? -1 : 1);
  *longitude = atoi(name + 4) * (strchr("Ww", name[3]) ? -1 : 1);
  return true;
}

/* Cells at the edges have their centres on whole degrees. */
static void place_srtm(ambit__raster *r)
{
  int latitude, longitude;

  r->unit = AMBIT_DEGREES;
  r->spacing[0] = r->spacing[1] = 1.0 / (double)(r->width - 1);
  r->has_origin = parse_srtm_name(r->path, &latitude, &longitude);
  if (!r->has_origin) return;
  r->origin[0] = latitude + 1;
  r->origin[1] = longitude;
}

ambit_status ambit__raster_open_hgt(ambit__raster *r)
{
  ambit__raster_blocks b = {.across = 1, .bits = 16, .kind = 'i', .big_endian = true};

  r->width = r->bytes == (int64_t)2 * 1201 * 1201   ? 1201
             : r->bytes == (int64_t)2 * 3601 * 3601 ? 3601
                                                    : 0;
  AMBIT_CHECK(r->width, r->errors, AMBIT_EIO,
              "%s has %" PRId64 " bytes; an SRTM file has 2884802 (1201 x 1201 values) or 25934402 "
              "(3601 x 3601)",
              r->path, r->bytes);
  b.width = b.height = r->height = r->width;
  place_srtm(r);
  r->has_nodata = true;
  r->nodata = -32768;
  b.at = ambit__new(r->errors, 1, sizeof *b.at);
  return b.at ? ambit__raster_use_blocks(r, &b) : AMBIT_ENOMEM;
}
