/* SPDX-License-Identifier: BSD-3-Clause */
/* field_npy.h - distributed fields to and from NumPy files. Collective. */
#ifndef AMBIT_IO_FIELD_NPY_H
#define AMBIT_IO_FIELD_NPY_H

#include "runtime/run/run.h"

ambit_status ambit__field_save_npy(ambit_field *f, const char *path);
ambit_status ambit__field_load_npy(ambit_field *f, const char *path);

#endif
