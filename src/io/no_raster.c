/* SPDX-License-Identifier: BSD-3-Clause */
/* no_raster.c - elevation files in a build without them (AMBIT_ELEVATION=OFF): refused by name. */
#include "io/save.h"

static ambit_status refuse(ambit__errors *errors, const char *path)
{
  return ambit__raise(errors, AMBIT_EUNSUPPORTED,
                      "%s: this libambit reads no elevation files: it was configured with "
                      "AMBIT_ELEVATION=OFF",
                      path);
}

ambit_status ambit__raster_open(ambit__errors *errors, const char *path,
                                ambit__raster_format format, ambit__raster **out)
{
  (void)format;
  *out = NULL;
  return refuse(errors, path);
}

void ambit__raster_close(ambit__raster *r)
{
  (void)r;
}

ambit_status ambit__field_load_raster(ambit_field *f, const char *path, ambit__raster_format format)
{
  (void)format;
  return refuse(&f->grid->context->errors, path);
}
