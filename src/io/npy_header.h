/* SPDX-License-Identifier: BSD-3-Clause */
/* npy_header.h - the header of a NumPy file, a Python dictionary:
 *
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 */
#ifndef AMBIT_IO_NPY_HEADER_H
#define AMBIT_IO_NPY_HEADER_H

#include "io/npy.h"

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
