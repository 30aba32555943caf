/* SPDX-License-Identifier: BSD-3-Clause */
/* draw.h - distributed fields as pictures and films. Collective; process 0 draws. */
#ifndef AMBIT_IO_DRAW_H
#define AMBIT_IO_DRAW_H

#include "io/picture.h"
#include "runtime/run/run.h"

/* What of a field is drawn, and how. */
typedef struct ambit__drawing {
  int component;
  int axis;      /* of a 3-D field: the one that a plane is taken of */
  int64_t plane; /* its index */
  ambit__picture_options options;
  /* Of a series of pictures, if the range was not given: all values so far, so that a colour means
   * the same in all; and the map of the first one. */
  bool is_series, has_range;
  double lo, hi;
} ambit__drawing;

/* Checks a description against a field; NULL: the defaults. */
ambit_status ambit__drawing_make(const ambit_field *f, const ambit_picture *picture,
                                 ambit__drawing *d);
/* Reads and scales the values: on process 0 *out has them afterwards, to be freed. */
ambit_status ambit__drawing_read(ambit_field *f, ambit__drawing *d, ambit__picture *out);
/* As a PNG file. */
ambit_status ambit__draw_png(ambit_field *f, ambit__drawing *d, const char *path);

/* ---- film.c: pictures as frames of a Y4M file, on one process ---- */

typedef struct ambit__film ambit__film;

/* The first picture sets the size. Frames are of 4:4:4 YCbCr (BT.601), with even sides. `errors`
 * and `path` must outlive it. */
ambit_status ambit__film_create(ambit__errors *errors, const char *path, double rate,
                                ambit__film **out);
ambit_status ambit__film_add(ambit__film *f, const ambit__picture *p);
/* Completes it, if it has a frame. Frees it; NULL is ignored. */
ambit_status ambit__film_end(ambit__film *f);

#endif
