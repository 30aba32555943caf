/* SPDX-License-Identifier: BSD-3-Clause */
/* field_png.h - fields from PNG pictures. Collective. */
#ifndef AMBIT_IO_FIELD_PNG_H
#define AMBIT_IO_FIELD_PNG_H

#include "runtime/run/run.h"

ambit_status ambit__field_load_png(ambit_field *f, const char *path);
ambit_status ambit__png_inspect(ambit *a, const char *path, ambit_file_info *info);

#endif
