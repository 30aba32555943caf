/* SPDX-License-Identifier: BSD-3-Clause */
/* field_hdf5.h - distributed fields to and from HDF5 files: plain ones, and VTKHDF for ParaView.
 * Collective. */
#ifndef AMBIT_IO_FIELD_HDF5_H
#define AMBIT_IO_FIELD_HDF5_H

#include "io/save.h"

/* `for_vtk`: as VTKHDF. The fields are of one grid. */
ambit_status ambit__save_begin_hdf5(const char *path, int n, ambit_field *const *fields,
                                    bool for_vtk, ambit__saving **out);
/* Raises an error if the fields cannot be saved so, whatever the path. */
ambit_status ambit__fields_check_hdf5(int n, ambit_field *const *fields, const char *path,
                                      bool for_vtk);
ambit_status ambit__field_load_hdf5(ambit_field *f, const char *path);
/* The first dataset of cells. *origin: AMBIT_MAX_DIMS + 1 numbers, or NULL. */
ambit_status ambit__hdf5_inspect(ambit *a, const char *path, ambit_file_info *info, double *origin);

#endif
