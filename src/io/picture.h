/* picture.h - a scalar field as a picture: how many pixels, which range, which map.
 *
 * Rows are asked for once each, from top to bottom, so a field of any size needs memory for its
 * pixels only. A field larger than the picture is averaged over square blocks of cells; a tiny one
 * is enlarged by a whole number, so that cells stay sharp squares.
 */
#ifndef AMBIT_IO_PICTURE_H
#define AMBIT_IO_PICTURE_H

#include "base/error.h"
#include "io/colour.h"

/* Fills row[0 .. width-1] with the values of row y. A failure ends the picture. */
typedef ambit_status (*ambit__row_fn)(void *user, int64_t y, double *row);

/* How to draw; zero means the default everywhere. */
typedef struct ambit__picture_options {
  enum { AMBIT__MAP_AUTO, AMBIT__MAP_DUSK, AMBIT__MAP_TIDE } map; /* auto: tide for waves */
  int max_side;  /* pixels of the longer side at most; 2048 */
  int min_side;  /* tiny fields are enlarged up to this; 512. 1: never */
  double lo, hi; /* values of the first and the last colour, if lo < hi; else from the data */
  double clip;   /* share of the pixels to leave out of the range at either end; 0: none */
} ambit__picture_options;

typedef struct ambit__picture {
  int64_t width, height; /* values */
  double *values;        /* width x height, NaN where there is none; owned */
  int zoom_x, zoom_y;    /* pixels per value */
  double lo, hi;         /* values of the first and the last colour */
  ambit__colour_map map;
} ambit__picture;

ambit_status ambit__picture_make(ambit__errors *errors, int64_t width, int64_t height,
                                 ambit__row_fn get_row, void *user,
                                 const ambit__picture_options *options, ambit__picture *out);
void ambit__picture_free(ambit__picture *p);

/* The place of a value in the map, 0 to AMBIT__COLOURS - 1; values outside the range take its
 * ends. -1 for NaN. */
int ambit__picture_colour(const ambit__picture *p, double value);

#endif
