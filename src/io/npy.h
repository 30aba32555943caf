/* SPDX-License-Identifier: BSD-3-Clause */
/* npy.h - arrays as NumPy files (format 1.0 to 3.0), read and written in pieces.
 *
 * Written: row-major, native byte order. Read: row-major, either byte order, the types below and
 * bool (as unsigned char); and lists of cells, with records of an index and a value:
 *
 *   [('index', '<i8', (3,)), ('value', '<f4')]
 *
 * Other files are rejected with the NumPy call that converts them. The
 * size in the header is checked against the size of the file before memory is allocated.
 */
#ifndef AMBIT_IO_NPY_H
#define AMBIT_IO_NPY_H

#include "base/file.h"

#include <stdbool.h>

enum { AMBIT__NPY_DIMS = AMBIT_MAX_DIMS + 1 }; /* axes of a grid, and components */

/* The contents of the header. */
typedef struct ambit__npy_info {
  ambit_type type;
  int ndims;                      /* 0 for a single value */
  int64_t shape[AMBIT__NPY_DIMS]; /* unused entries are 0 */
  int axes;                       /* of the indices of a list of cells, which has one dimension */
  int values;                     /* per cell of a list */
  size_t bytes;                   /* size of all values */
  size_t offset;                  /* position of the first value in the file */
  bool swapped;                   /* opposite byte order; converted while reading */
  bool seekable; /* a regular file, whose values can be read in any order; not a pipe */
} ambit__npy_info;

typedef struct ambit__npy_reader ambit__npy_reader; /* an array that is read */

/* Creates a file for an array with the type and shape, axes and values of `form`. The values are
 * written behind the header, which is there, and the file is committed. */
ambit_status ambit__npy_create(ambit__errors *errors, const char *path, const ambit__npy_info *form,
                               ambit__file **out);

/* Reads sequentially, in pieces of whole elements. ambit__npy_open
 * refuses lists of cells. */
ambit_status ambit__npy_open_any(ambit__errors *errors, const char *path, ambit__npy_info *info,
                                 ambit__npy_reader **out);
ambit_status ambit__npy_open(ambit__errors *errors, const char *path, ambit__npy_info *info,
                             ambit__npy_reader **out);
ambit_status ambit__npy_next(ambit__npy_reader *r, void *data, size_t bytes);
/* Reads whole values, `at` bytes after the first one, from a seekable file. */
ambit_status ambit__npy_get(ambit__npy_reader *r, size_t at, void *data, size_t bytes);
void ambit__npy_close(ambit__npy_reader *r); /* NULL is ignored */

/* Reads only the header. */
ambit_status ambit__npy_read_header(ambit__errors *errors, const char *path, ambit__npy_info *info);

/* ---- npy_header.c ----
 *
 * The header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 */

/* Sets type, ndims, shape, axes, values, bytes and swapped. `text` is NUL-terminated; `path` is for
 * messages. */
ambit_status ambit__npy_parse_header(ambit__errors *errors, const char *path, const char *text,
                                     ambit__npy_info *info);
/* Writes the header, including magic number and padding. Returns its length, at most
 * AMBIT__NPY_HEADER_BYTES. */
enum { AMBIT__NPY_HEADER_BYTES = 320 };
size_t ambit__npy_make_header(const ambit__npy_info *info, char out[AMBIT__NPY_HEADER_BYTES]);
/* Computes info->bytes; false if a size is negative or the product overflows. */
bool ambit__npy_measure(ambit__npy_info *info);

#endif
