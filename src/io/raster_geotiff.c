/* SPDX-License-Identifier: BSD-3-Clause */
/* raster_geotiff.c - the tags of GeoTIFF: where cells are, in which unit, and the value of missing
 * data.
 *
 * A tie point and the scale of pixels, or a matrix, give the place of pixels. Maps that are rotated
 * have no spacing along rows and columns: theirs is unknown. The keys say whether coordinates are
 * angles or lengths, in which unit, and whether they are those of the centres of pixels or of their
 * corners. (OGC 19-008r4, GeoTIFF 1.1.)
 */
#include "base/number.h"
#include "io/tiff.h"

#include <string.h>

enum { MODEL_TYPE = 1024, RASTER_TYPE = 1025, ANGULAR_UNIT = 2054, LINEAR_UNIT = 3076 }; /* keys */
enum { PROJECTED = 1, GEOGRAPHIC = 2, IS_POINT = 2 }; /* values */
enum { KEY_SHORTS = 4, TEXT = 64 };

/* EPSG codes of units. */
static const struct {
  int64_t code;
  double size; /* in degrees or metres */
} units[] = {{9101, 180 / 3.14159265358979323846},
             {9102, 1},
             {9103, 1.0 / 60},
             {9104, 1.0 / 3600},
             {9105, 0.9},
             {9106, 0.9},
             {9122, 1},
             {9001, 1},
             {9002, 0.3048},
             {9003, 1200.0 / 3937},
             {9036, 1000}};

/* The value of a key, if it is a number in the directory of keys itself. */
static ambit_status find_key(const ambit__tiff *t, int64_t key, int64_t otherwise, int64_t *value)
{
  int64_t n, id, place;

  *value = otherwise;
  if (t->keys.count < KEY_SHORTS) return AMBIT_OK;
  AMBIT_TRY(ambit__tiff_whole(t, &t->keys, 3, 0, &n));
  for (int64_t i = 1; i <= n && KEY_SHORTS * (i + 1) <= t->keys.count; i++) {
    AMBIT_TRY(ambit__tiff_whole(t, &t->keys, KEY_SHORTS * i, 0, &id));
    AMBIT_TRY(ambit__tiff_whole(t, &t->keys, KEY_SHORTS * i + 1, 0, &place));
    if (id == key && !place) return ambit__tiff_whole(t, &t->keys, KEY_SHORTS * i + 3, 0, value);
  }
  return AMBIT_OK;
}

/* *size is that of the unit of the file in degrees or metres; 1 if the unit is unknown. */
static ambit_status read_unit(const ambit__tiff *t, double *size)
{
  int64_t model, code;

  *size = 1;
  AMBIT_TRY(find_key(t, MODEL_TYPE, 0, &model));
  if (model == GEOGRAPHIC)
    AMBIT_TRY(find_key(t, ANGULAR_UNIT, 9102, &code));
  else
    AMBIT_TRY(find_key(t, LINEAR_UNIT, 0, &code));
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (units[i].code == code && (model == GEOGRAPHIC || model == PROJECTED)) {
      t->r->unit = model == GEOGRAPHIC ? AMBIT_DEGREES : AMBIT_METRES;
      *size = units[i].size;
    }
  return AMBIT_OK;
}

/* The place of a corner of pixel [0][0], or of its centre. */
static ambit_status read_place(const ambit__tiff *t)
{
  ambit__raster *r = t->r;
  double scale[2], tie[6], matrix[8];
  bool has_scale, has_tie, has_matrix;

  AMBIT_TRY(ambit__tiff_reals(t, &t->scale, 2, scale, &has_scale));
  AMBIT_TRY(ambit__tiff_reals(t, &t->tie, 6, tie, &has_tie));
  AMBIT_TRY(ambit__tiff_reals(t, &t->transform, 8, matrix, &has_matrix));
  if (has_scale) {
    r->spacing[0] = scale[1];
    r->spacing[1] = scale[0];
    r->has_origin = has_tie;
    if (has_tie) r->origin[0] = tie[4] + tie[1] * scale[1];
    if (has_tie) r->origin[1] = tie[3] - tie[0] * scale[0];
  } else if (has_matrix && matrix[1] == 0 && matrix[4] == 0) {
    r->spacing[0] = -matrix[5];
    r->spacing[1] = matrix[0];
    r->has_origin = true;
    r->origin[0] = matrix[7];
    r->origin[1] = matrix[3];
  }
  return AMBIT_OK;
}

static ambit_status read_nodata(const ambit__tiff *t)
{
  char text[TEXT];

  AMBIT_TRY(ambit__tiff_text(t, &t->nodata, text, sizeof text));
  text[strcspn(text, " \t\r\n")] = '\0';
  t->r->has_nodata = ambit__number_read(text, &t->r->nodata);
  return AMBIT_OK;
}

ambit_status ambit__tiff_geography(const ambit__tiff *t)
{
  ambit__raster *r = t->r;
  int64_t point;
  double size;

  AMBIT_TRY(read_nodata(t));
  AMBIT_TRY(read_place(t));
  AMBIT_TRY(find_key(t, RASTER_TYPE, 1, &point));
  AMBIT_TRY(read_unit(t, &size));
  for (int d = 0; d < 2; d++) {
    const double centre = point == IS_POINT ? 0 : 0.5; /* pixels from the place */

    r->origin[d] = (r->origin[d] + (d ? centre : -centre) * r->spacing[d]) * size;
    r->spacing[d] *= size;
  }
  return AMBIT_OK;
}
