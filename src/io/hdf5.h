/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5.h - HDF5 files: groups, attributes and datasets, through the HDF5 library of this machine.
 *
 * Writing. One process creates the file: all its groups, attributes and datasets. A dataset is
 * contiguous and gets its place in the file at once, but no values. After ambit__h5_close any
 * number of processes write the values there (ambit__file_write_at), in row-major order and in the
 * machine's byte order; nothing of HDF5 is needed for that.
 *
 *   ambit__file_create(errors, path, &file);
 *   ambit__h5_create(errors, ambit__file_beside(file), path, &h);
 *   ambit__h5_dataset(h, "u", AMBIT_F32, 2, shape, &offset);
 *   ambit__h5_close(h);
 *   ambit__file_write_at(file, offset, values, bytes);
 *   ambit__file_commit(file);
 *
 * Reading. Every process opens the file and reads boxes of datasets, whatever their layout,
 * compression and byte order.
 *
 * Objects are named by their path, "VTKHDF/CellData"; "/" is the file itself. Calls can be made
 * from any thread; the HDF5 library is used by one of them at a time.
 */
#ifndef AMBIT_IO_HDF5_H
#define AMBIT_IO_HDF5_H

#include "base/error.h"

#include <stdbool.h>

enum { AMBIT__H5_DIMS = 8, AMBIT__H5_NAME = 256 };

typedef struct ambit__h5 ambit__h5; /* an open file */

/* "": HDF5 files can be read and written here; else a sentence that says why not. */
const char *ambit__h5_why_not(void);

/* ---- writing ---- */

/* Creates a file, or replaces its contents. `path` is its name in messages. `errors` must outlive
 * it. The file may be locked (flock), as temporary files are. */
ambit_status ambit__h5_create(ambit__errors *errors, const char *file, const char *path,
                              ambit__h5 **out);
/* Its parent must exist. */
ambit_status ambit__h5_group(ambit__h5 *h, const char *group);
/* Attributes of a group or dataset: a text in ASCII, of fixed length; n numbers, or with n = 0 one
 * that is not an array. */
ambit_status ambit__h5_put_text(ambit__h5 *h, const char *object, const char *name,
                                const char *text);
ambit_status ambit__h5_put_numbers(ambit__h5 *h, const char *object, const char *name,
                                   ambit_type type, int n, const void *values);
/* *offset: where the first value is, in bytes from the start of the file. */
ambit_status ambit__h5_dataset(ambit__h5 *h, const char *name, ambit_type type, int ndims,
                               const int64_t *shape, uint64_t *offset);
/* Completes a file that was created. Frees `h` in any case; NULL is ignored. */
ambit_status ambit__h5_close(ambit__h5 *h);

/* ---- reading ---- */

typedef struct ambit__h5_info {
  ambit_type type; /* the smallest of ours that holds all values */
  bool is_same;    /* they are of this type, in either byte order */
  int ndims;       /* 0: one value */
  int64_t shape[AMBIT__H5_DIMS];
} ambit__h5_info;

ambit_status ambit__h5_open(ambit__errors *errors, const char *path, ambit__h5 **out);
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
