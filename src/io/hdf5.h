/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5.h - HDF5 files, read through the HDF5 library of this machine. They are written without it
 * (base/container.h).
 *
 * Every process opens the file and reads boxes of datasets, whatever their layout, compression and
 * byte order. Objects are named by their path, "VTKHDF/CellData"; "/" is the file itself. Calls can
 * be made from any thread; the HDF5 library is used by one of them at a time.
 */
#ifndef AMBIT_IO_HDF5_H
#define AMBIT_IO_HDF5_H

#include "base/error.h"

#include <stdbool.h>

enum { AMBIT__H5_DIMS = 8, AMBIT__H5_NAME = 256 };

typedef struct ambit__h5 ambit__h5; /* an open file */

/* "": HDF5 files can be read here; else a sentence that says why not. */
const char *ambit__h5_why_not(void);

typedef struct ambit__h5_info {
  ambit_type type; /* the smallest of ours that holds all values */
  bool is_same;    /* they are of this type, in either byte order */
  int ndims;       /* 0: one value */
  int64_t shape[AMBIT__H5_DIMS];
} ambit__h5_info;

/* `errors` must outlive it. */
ambit_status ambit__h5_open(ambit__errors *errors, const char *path, ambit__h5 **out);
void ambit__h5_close(ambit__h5 *h); /* NULL is ignored */
bool ambit__h5_has(ambit__h5 *h, const char *object);
bool ambit__h5_has_attribute(ambit__h5 *h, const char *object, const char *name);
/* Raises AMBIT_EIO if it is missing or its values are not numbers. */
ambit_status ambit__h5_inspect(ambit__h5 *h, const char *dataset, ambit__h5_info *info);
/* Reads the box of `count` values that begins at `lo`, converted to a type. Both may be NULL, for
 * the whole dataset. */
ambit_status ambit__h5_read(ambit__h5 *h, const char *dataset, ambit_type type, const int64_t *lo,
                            const int64_t *count, void *values);
/* Exactly n numbers. */
ambit_status ambit__h5_get_numbers(ambit__h5 *h, const char *object, const char *name,
                                   ambit_type type, int n, void *values);
/* The i-th dataset of a group, in the order of names. False: there are fewer. */
bool ambit__h5_dataset_name(ambit__h5 *h, const char *group, int i, char name[AMBIT__H5_NAME]);

#endif
