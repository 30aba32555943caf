/* SPDX-License-Identifier: BSD-3-Clause */
/* save.h - fields to files, in the format of the file name.
 *
 * A file is begun by all processes together. Then each writes its own cells, perhaps on another
 * thread and from copies of the fields; and all together end it.
 */
#ifndef AMBIT_IO_SAVE_H
#define AMBIT_IO_SAVE_H

#include "io/raster.h"
#include "runtime/run/run.h"

/* A file that is being written; the first member of the struct of its format. */
typedef struct ambit__saving {
  ambit *context; /* of the fields given */
  int n;
  ambit_field *const *fields; /* those given, or copies of them: they are written */
  bool in_order;              /* a pipe: `write` is collective, and the fields are those given */
  ambit_status (*write)(struct ambit__saving *s);  /* the cells of this process */
  ambit_status (*commit)(struct ambit__saving *s); /* completes the file; of process 0, its name */
  void (*tell)(struct ambit__saving *s, ambit__errors *errors); /* as ambit__file_tell */
  void (*free)(struct ambit__saving *s);                        /* discards a file without commit */
} ambit__saving;

/* n fields of one grid, .npy, .vtkhdf or .h5. All processes have agreed on what they save. Copies
 * `path`, not the list. Collective. */
ambit_status ambit__save_begin(const char *path, int n, ambit_field *const *fields,
                               ambit__saving **out);
/* When all have written, or an error was raised in the context: gives the file its name, or
 * discards it. Frees it; NULL is ignored. Collective. */
ambit_status ambit__save_end(ambit__saving *s);
/* Begins, writes and ends a file; pictures too. Collective. */
ambit_status ambit__save_all(const char *path, int n, ambit_field *const *fields);

/* ---- field_hdf5.c, field_png.c, field_raster.c: formats. Collective ---- */

/* `for_vtk`: as VTKHDF, for ParaView. The fields are of one grid. */
ambit_status ambit__save_begin_hdf5(const char *path, int n, ambit_field *const *fields,
                                    bool for_vtk, ambit__saving **out);
/* Raises an error if the fields cannot be saved so, whatever the path. */
ambit_status ambit__fields_check_hdf5(int n, ambit_field *const *fields, const char *path,
                                      bool for_vtk);
ambit_status ambit__field_load_hdf5(ambit_field *f, const char *path);
/* The first dataset of cells. *origin: AMBIT_MAX_DIMS + 1 numbers, or NULL. */
ambit_status ambit__hdf5_inspect(ambit *a, const char *path, ambit_file_info *info, double *origin);

ambit_status ambit__field_load_png(ambit_field *f, const char *path);
ambit_status ambit__png_inspect(ambit *a, const char *path, ambit_file_info *info);

ambit_status ambit__field_load_raster(ambit_field *f, const char *path,
                                      ambit__raster_format format);

#endif
