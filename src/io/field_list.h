/* SPDX-License-Identifier: BSD-3-Clause */
/* field_list.h - lists of active cells in NumPy files, in the order of cells of an array. */
#ifndef AMBIT_IO_FIELD_LIST_H
#define AMBIT_IO_FIELD_LIST_H

#include "io/npy.h"
#include "io/save.h"

/* A list that is being saved. */
typedef struct ambit__cell_list {
  ambit__saving *saving;
  int64_t *before;        /* by run: cells of the list before it; NULL: the grid is dense */
  unsigned char *records; /* for a piece */
} ambit__cell_list;

void ambit__cell_list_form(const ambit_field *f, ambit__npy_info *form);
ambit_status ambit__cell_list_begin(const ambit_field *f, ambit__cell_list *l); /* has `saving` */
void ambit__cell_list_end(ambit__cell_list *l);
/* Makes the records of a piece, which `dense` has as an array, and puts them where they belong in
 * the file; in a pipe, behind all others. */
ambit_status ambit__cell_list_put(const ambit_field *f, const ambit__box *box, const void *dense,
                                  ambit__cell_list *l);
/* Reads all records, on all processes: process 0 from the file. */
ambit_status ambit__cell_list_load(ambit_field *f, const char *path, const ambit__npy_info *info,
                                   ambit__npy_reader *reader);

#endif
