/* SPDX-License-Identifier: BSD-3-Clause */
/* field_npy.h - distributed fields to and from NumPy files. Collective. */
#ifndef AMBIT_IO_FIELD_NPY_H
#define AMBIT_IO_FIELD_NPY_H

#include "io/npy.h"
#include "io/save.h"

/* As an array of all cells, or with `as_list` as a list of active ones. */
ambit_status ambit__save_begin_npy(const char *path, ambit_field *const *f, bool as_list,
                                   ambit__saving **out);
ambit_status ambit__field_load_npy(ambit_field *f, const char *path);

/* ---- field_list.c: lists of active cells, in the order of cells of an array ---- */

/* A list that is being saved. */
typedef struct ambit__cell_list {
  ambit__npy *npy;
  int64_t *before;        /* by run: cells of the list before it; NULL: the grid is dense */
  unsigned char *records; /* for a piece */
} ambit__cell_list;

void ambit__cell_list_form(const ambit_field *f, ambit__npy_info *form);
ambit_status ambit__cell_list_begin(const ambit_field *f, ambit__npy *npy, ambit__cell_list *l);
void ambit__cell_list_end(ambit__cell_list *l);
/* Makes the records of a piece, which `dense` has as an array, and puts them where they belong in
 * the file, or behind all others. */
ambit_status ambit__cell_list_put(const ambit_field *f, const ambit__box *box, const void *dense,
                                  ambit__cell_list *l, bool append);
/* Reads all records, on all processes: process 0 from the file. */
ambit_status ambit__cell_list_load(ambit_field *f, const char *path, const ambit__npy_info *info,
                                   ambit__npy_reader *reader);

#endif
