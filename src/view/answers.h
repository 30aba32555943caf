/* SPDX-License-Identifier: BSD-3-Clause */
/* answers.h - what the page gets: descriptions in JSON, and pictures.
 *
 * A picture is a line of JSON, of an even length with its \n, and then the values, row by row: 16
 * bits each, little endian, from 0 for `lo` to 65534 for `hi`; 65535 is no value. Whole numbers
 * within 65534 of each other are exact: hi is lo + 65534 then.
 */
#ifndef AMBIT_VIEW_ANSWERS_H
#define AMBIT_VIEW_ANSWERS_H

#include "view/viewer.h"

/* The values of a picture, and those of its steps 0 and 65534. */
typedef struct ambit__values {
  const double *values; /* of the frame */
  int64_t n;
  double lo, hi;
} ambit__values;

/* Under the lock of the viewer. The line of a picture, and the values that follow it. */
void ambit__answer_scene(const ambit__viewer *v, ambit__text *out);
void ambit__answer_frame(const ambit__viewer *v, bool controls, ambit__text *out,
                         ambit__values *values);
/* Prints values, 2 bytes each; without the lock. */
void ambit__answer_values(const ambit__values *v, ambit__text *out);

#endif
