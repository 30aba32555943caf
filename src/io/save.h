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

/* A file that is being written. */
typedef struct ambit__saving {
  ambit *context; /* of the fields given */
  int n;
  ambit_field *const *fields; /* those given, or copies of them: they are written */
  bool is_other;              /* .npy: a list of cells, not an array; HDF5: for VTK */
  bool in_order;              /* a pipe: `write` is collective, and the fields are those given */
  struct ambit__file *file;   /* NULL: ended, or a pipe of process 0 */
  uint64_t *offsets;          /* by field: of its first value in the file; and one more; owned */
  int field;                  /* that is being written */
  /* Writes all but the values, and sets the offsets. On process 0. */
  ambit_status (*head)(struct ambit__saving *s, const char *path);
  ambit_status (*write)(struct ambit__saving *s); /* the cells of this process */
} ambit__saving;

/* n fields of one grid, .npy, .vtkhdf or .h5. All processes have agreed on what they save. Copies
 * neither path nor list. Collective. */
ambit_status ambit__save_begin(const char *path, int n, ambit_field *const *fields,
                               ambit__saving **out);
/* Completes the file; of process 0, gives it its name. */
ambit_status ambit__save_commit(ambit__saving *s);
void ambit__save_tell(const ambit__saving *s, ambit__errors *errors); /* as ambit__file_tell */
void ambit__save_free(ambit__saving *s); /* discards a file without commit; NULL is ignored */
/* When all have written, or an error was raised in the context: gives the file its name, or
 * discards it. Frees it; NULL is ignored. Collective. */
ambit_status ambit__save_end(ambit__saving *s);
/* For the formats: writes bytes of the field, of which the first has number `at`; `saving` is an
 * ambit__saving. */
ambit_status ambit__save_put(void *saving, size_t at, void *bytes, size_t n);

/* ---- field_npy.c, field_hdf5.c, field_png.c, field_raster.c: formats. Collective ---- */

ambit_status ambit__save_npy_head(ambit__saving *s, const char *path);
ambit_status ambit__save_npy_write(ambit__saving *s);
ambit_status ambit__field_load_npy(ambit_field *f, const char *path);

ambit_status ambit__save_hdf5_head(ambit__saving *s, const char *path);
ambit_status ambit__save_hdf5_write(ambit__saving *s);
/* Raises an error if the fields, of one grid, cannot be saved so, whatever the path. `for_vtk`: as
 * VTKHDF, for ParaView. */
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
