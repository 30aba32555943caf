/* SPDX-License-Identifier: BSD-3-Clause */
/* sample.h - the values of a picture: some cells of the plane that is shown, from all parts and
 * processes.
 *
 * Samples are taken every `step` cells along both axes, from the middle of the first step on. If
 * there are few of them, a pixel is the mean of 2 x 2. Nothing larger than the samples leaves a
 * device: GPUs find maxima along an axis themselves. Of sparse grids, and of the norm of types
 * other than float and double, some planes at a time are read.
 */
#ifndef AMBIT_VIEW_SAMPLE_H
#define AMBIT_VIEW_SAMPLE_H

#include "view/sight.h"

enum { AMBIT__VIEW_MOST_SIDE = 4096 }; /* pixels of a picture along an axis */

typedef struct ambit__pixels {
  int64_t block; /* cells of a pixel, along both axes */
  int rows, columns;
  double *values; /* rows x columns, on process 0; NaN: undefined; owned */
  double lo, hi;  /* the least and the greatest of them that are finite; lo > hi: there is none */
} ambit__pixels;

/* Reads a picture of about this many rows and columns of pixels: at least half, at most twice, or
 * one per cell if there are fewer. Collective. */
ambit_status ambit__sample(const ambit_program *p, const ambit__scene *s, const ambit__sight *x,
                           int rows, int columns, ambit__pixels *out);

#endif
