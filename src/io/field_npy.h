/* field_npy.h - fields to and from NumPy files, whoever has their cells. Collective: what fails on one process fails on
 * all. */
#ifndef AMBIT_IO_FIELD_NPY_H
#define AMBIT_IO_FIELD_NPY_H

#include "runtime/run/run.h"

ambit_status ambit__field_save_npy(ambit_field *f, const char *path);
ambit_status ambit__field_load_npy(ambit_field *f, const char *path);

#endif
