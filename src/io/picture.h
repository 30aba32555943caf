/* SPDX-License-Identifier: BSD-3-Clause */
/* picture.h - a scalar field as a picture: its pixels, value range and colour map.
 *
 * Each row is requested once, from top to bottom, so only the pixels need memory. A field larger
 * than the picture is averaged over square blocks of cells; a small one is enlarged by an integer
 * factor, so that cells remain sharp squares.
 */
#ifndef AMBIT_IO_PICTURE_H
#define AMBIT_IO_PICTURE_H

#include "base/error.h"
#include "io/colour.h"

#include <stdbool.h>

/* Fills row[0 .. width-1] with the values of row y. A failure ends the picture. */
typedef ambit_status (*ambit__row_fn)(void *user, int64_t y, double *row);

/* Options; zero means the default. */
typedef struct ambit__picture_options {
  int map;       /* ambit__colour_map + 1; 0: tide for values of both signs, else dusk */
  int max_side;  /* maximum pixels of the longer side; default 2048 */
  int min_side;  /* small fields are enlarged up to this; default 512; 1: never */
  double lo, hi; /* values of the first and the last colour, if lo < hi; else from the data */
  bool relief;   /* shaded as a landscape */
} ambit__picture_options;

typedef struct ambit__picture {
  int64_t width, height; /* in values */
  double *values;        /* width x height, NaN where undefined; owned */
  bool averaged;         /* values are those of several cells */
  int zoom_x, zoom_y;    /* pixels per value */
  double lo, hi;         /* values of the first and the last colour */
  bool is_flat;          /* all finite values are the same, or there are none */
  ambit__colour_map map;
  bool relief;
} ambit__picture;

ambit_status ambit__picture_make(ambit__errors *errors, int64_t width, int64_t height,
                                 ambit__row_fn get_row, void *user,
                                 const ambit__picture_options *options, ambit__picture *out);
void ambit__picture_free(ambit__picture *p);

/* The index of a value in the colour map, 0 to AMBIT__COLOURS - 1; values outside the range are
 * clamped. -1 for NaN. */
int ambit__picture_colour(const ambit__picture *p, double value);
/* The colour of a value of the picture, from the table of its map, shaded if it has a relief. */
ambit__rgb ambit__picture_pixel(const ambit__picture *p, const ambit__rgb *table, int64_t x,
                                int64_t y);
/* The picture zoomed, as width x height pixels, which the caller frees; beyond it the last column
 * and row are repeated. NULL: an error was raised. */
ambit__rgb *ambit__picture_draw(ambit__errors *errors, const ambit__picture *p, int64_t width,
                                int64_t height);
/* The least and the greatest of the finite values; lo > hi: there is none. */
void ambit__finite_range(const double *values, int64_t n, double *lo, double *hi);
/* Sets range, map and relief of a picture that has its values. */
void ambit__picture_range(ambit__picture *p, const ambit__picture_options *o);
/* The same, where p->lo and p->hi are the least and the greatest finite value; 0 if there is none.
 */
void ambit__picture_span(ambit__picture *p, const ambit__picture_options *o);

#endif
