/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/npy.h"

#include "base/memory.h"
#include "io/inlet.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HEADER = 1 << 16 };

/* ---- writing ---- */

ambit_status ambit__npy_create(ambit__errors *errors, const char *path, const ambit__npy_info *form,
                               ambit__file **out)
{
  char header[AMBIT__NPY_HEADER_BYTES];
  ambit__npy_info info = *form;

  *out = NULL;
  AMBIT_CHECK(ambit__npy_measure(&info), errors, AMBIT_EINVAL,
              "%s: the sizes of the array are negative, or their product exceeds memory", path);
  AMBIT_TRY(ambit__file_create(errors, path, out));
  return ambit__file_write(*out, header, ambit__npy_make_header(&info, header)); /* to a buffer */
}

/* ---- reading ---- */

struct ambit__npy_reader {
  ambit__errors *errors;
  char *path; /* owned */
  ambit__inlet in;
  size_t offset; /* position of the first value in the file */
  size_t value;  /* bytes per value, if the byte order must be reversed; else 0 */
};

static ambit_status get(ambit__npy_reader *r, void *data, size_t bytes, const char *what)
{
  size_t n;

  AMBIT_TRY(ambit__inlet_read(&r->in, r->errors, data, bytes, &n));
  AMBIT_CHECK(n == bytes, r->errors, AMBIT_EIO, "%s ends in the middle of %s", r->path, what);
  return AMBIT_OK;
}

/* prefix: "\x93NUMPY" major minor, and the length of the text in 2 bytes (version 1) or 4 */
static ambit_status read_prefix(ambit__npy_reader *r, size_t *offset, size_t *length)
{
  unsigned char head[8], size[4] = {0};
  size_t digits;

  AMBIT_TRY(get(r, head, sizeof head, "its header; it is not a NumPy file"));
  AMBIT_CHECK(!memcmp(head, "\x93NUMPY", 6), r->errors, AMBIT_EIO,
              "%s is not a NumPy file: it does not begin with \\x93NUMPY", r->path);
  AMBIT_CHECK(head[6] >= 1 && head[6] <= 3, r->errors, AMBIT_EIO,
              "%s has version %d.%d of the NumPy format; Ambit reads 1.0, 2.0 and 3.0", r->path,
              head[6], head[7]);
  digits = head[6] == 1 ? 2 : 4;
  AMBIT_TRY(get(r, size, digits, "its header"));
  *length = size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
  *offset = sizeof head + digits + *length;
  AMBIT_CHECK(*length < MAX_HEADER, r->errors, AMBIT_EIO,
              "%s has a header of %zu bytes; the limit is %d", r->path, *length, MAX_HEADER);
  return AMBIT_OK;
}

/* A regular file must be as long as its header requires. */
static ambit_status check_length(ambit__npy_reader *r, ambit__npy_info *info)
{
  const int64_t all = ambit__inlet_bytes(&r->in);
  const size_t have = all > (int64_t)info->offset ? (size_t)all - info->offset : 0;

  info->seekable = all >= 0;
  if (!info->seekable) return AMBIT_OK;
  AMBIT_CHECK(have >= info->bytes, r->errors, AMBIT_EIO,
              "%s is truncated: its header requires %zu bytes of values, but it has %zu", r->path,
              info->bytes, have);
  return AMBIT_OK;
}

static ambit_status read_header(ambit__npy_reader *r, ambit__npy_info *info)
{
  size_t length = 0;
  ambit_status s;
  char *text;

  AMBIT_TRY(read_prefix(r, &info->offset, &length));
  text = ambit__new(r->errors, length + 1, 1);
  if (!text) return AMBIT_ENOMEM;
  s = get(r, text, length, "its header");
  if (!s) s = ambit__npy_parse_header(r->errors, r->path, text, info);
  free(text);
  if (!s) s = check_length(r, info);
  r->offset = info->offset;
  r->value = info->swapped ? ambit_type_size(info->type) : 0;
  return s;
}

ambit_status ambit__npy_open_any(ambit__errors *errors, const char *path, ambit__npy_info *info,
                                 ambit__npy_reader **out)
{
  static atomic_bool never;
  ambit__npy_reader *r = ambit__new(errors, 1, sizeof *r);
  ambit_status s = AMBIT_ENOMEM;

  *out = NULL;
  *info = (ambit__npy_info){0};
  if (!r) return s;
  r->errors = errors;
  r->in.fd = -1;
  r->path = ambit__strdup(errors, path ? path : "");
  if (r->path) s = ambit__inlet_open(errors, r->path, 0, &never, &r->in);
  if (!s) s = read_header(r, info);
  if (s)
    ambit__npy_close(r);
  else
    *out = r;
  return s;
}

ambit_status ambit__npy_open(ambit__errors *errors, const char *path, ambit__npy_info *info,
                             ambit__npy_reader **out)
{
  AMBIT_TRY(ambit__npy_open_any(errors, path, info, out));
  if (!info->axes) return AMBIT_OK;
  ambit__npy_close(*out);
  *out = NULL;
  return ambit__raise(errors, AMBIT_EIO,
                      "%s is a list of cells, with the index and the value of each, which only "
                      "ambit_field_load reads; an array is needed here",
                      path);
}

static void reverse_each(unsigned char *data, size_t bytes, size_t value)
{
  for (unsigned char *p = data; p < data + bytes; p += value)
    for (size_t i = 0; i < value / 2; i++) {
      unsigned char swapped = p[i];

      p[i] = p[value - 1 - i];
      p[value - 1 - i] = swapped;
    }
}

ambit_status ambit__npy_next(ambit__npy_reader *r, void *data, size_t bytes)
{
  AMBIT_TRY(get(r, data, bytes, "its values"));
  if (r->value) reverse_each(data, bytes, r->value);
  return AMBIT_OK;
}

ambit_status ambit__npy_get(ambit__npy_reader *r, size_t at, void *data, size_t bytes)
{
  AMBIT_TRY(ambit__file_read_at(r->errors, r->in.fd, r->path, r->offset + at, data, bytes));
  if (r->value) reverse_each(data, bytes, r->value);
  return AMBIT_OK;
}

void ambit__npy_close(ambit__npy_reader *r)
{
  if (!r) return;
  ambit__inlet_close(&r->in);
  free(r->path);
  free(r);
}

ambit_status ambit__npy_read_header(ambit__errors *errors, const char *path, ambit__npy_info *info)
{
  ambit__npy_reader *r;

  AMBIT_TRY(ambit__npy_open(errors, path, info, &r));
  ambit__npy_close(r);
  return AMBIT_OK;
}
