/* SPDX-License-Identifier: BSD-3-Clause */
/* raster_format.c - which files are elevation files; builds without them refuse these by name. */
#include "base/text.h"
#include "io/raster.h"

ambit__raster_format ambit__raster_format_of(const char *path)
{
  static const struct {
    const char *tail;
    ambit__raster_format format;
  } tails[] = {{".hgt", RASTER_HGT},   {".HGT", RASTER_HGT},  {".asc", RASTER_ASC},
               {".ASC", RASTER_ASC},   {".tif", RASTER_TIFF}, {".TIF", RASTER_TIFF},
               {".tiff", RASTER_TIFF}, {".TIFF", RASTER_TIFF}};

  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
    if (ambit__ends_in(path, tails[i].tail)) return tails[i].format;
  return RASTER_NONE;
}
