/* SPDX-License-Identifier: BSD-3-Clause */
/* tiff.h - the directory of a TIFF or BigTIFF file: its tags, with type and number of values.
 *
 * Values stay in the file. The functions here check type, number and place before they read one, so
 * a tag of the wrong type is never taken for another.
 */
#ifndef AMBIT_IO_TIFF_H
#define AMBIT_IO_TIFF_H

#include "io/raster.h"

/* An entry of the directory. */
typedef struct ambit__tag {
  int type;
  int64_t count; /* values; 0: the tag is absent */
  int64_t at;    /* position of the values in the file */
} ambit__tag;

typedef struct ambit__tiff {
  ambit__raster *r;
  bool big_endian;
  bool is_big; /* BigTIFF: sizes and positions have 8 bytes */
  ambit__tag width, height, bits, compression, samples, format;
  ambit__tag offsets, block_height, block_width;  /* of strips or tiles */
  ambit__tag scale, tie, transform, keys, nodata; /* GeoTIFF */
  bool is_tiled;
} ambit__tiff;

/* Value i of a tag of whole numbers; `otherwise` if the tag is absent. Raises an error if it has
 * another type, or no such value. */
ambit_status ambit__tiff_whole(const ambit__tiff *t, const ambit__tag *g, int64_t i,
                               int64_t otherwise, int64_t *x);
/* The first n values of a tag of real numbers. *has is false if the tag is absent, has fewer values
 * or another type. */
ambit_status ambit__tiff_reals(const ambit__tiff *t, const ambit__tag *g, int n, double *x,
                               bool *has);
/* The text of a tag, cut to `size` - 1 bytes; "" if it is absent or no text. */
ambit_status ambit__tiff_text(const ambit__tiff *t, const ambit__tag *g, char *text, size_t size);

/* raster_geotiff.c: sets the place of the cells, their unit, and the value of missing data. */
ambit_status ambit__tiff_geography(const ambit__tiff *t);

#endif
