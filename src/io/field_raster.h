/* SPDX-License-Identifier: BSD-3-Clause */
/* field_raster.h - distributed fields from elevation files. Collective. */
#ifndef AMBIT_IO_FIELD_RASTER_H
#define AMBIT_IO_FIELD_RASTER_H

#include "io/raster.h"
#include "runtime/run/run.h"

ambit_status ambit__field_load_raster(ambit_field *f, const char *path,
                                      ambit__raster_format format);

#endif
