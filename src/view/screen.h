/* SPDX-License-Identifier: BSD-3-Clause */
/* screen.h - pictures as text for a terminal: functions from values to bytes.
 *
 * Half blocks have two pixels per character, one above the other. ASCII has one character per two
 * pixels, from light to dark by value. Kitty's graphics and sixels are pixels of the screen.
 */
#ifndef AMBIT_VIEW_SCREEN_H
#define AMBIT_VIEW_SCREEN_H

#include "view/viewer.h"

/* Coloured pixels. */
typedef struct ambit__image {
  int width, height;
  ambit__rgb *pixels;
  float *places; /* by pixel: 0 to 1, the place of its value in the range; NaN: none */
} ambit__image;

/* A picture scaled to fit within width x height pixels; 1-D ones get a height. False: no memory. */
bool ambit__image_make(const ambit__picture *p, int width, int height, ambit__image *out);
void ambit__image_free(ambit__image *image);

/* Draws an image from the upper left corner of the screen on, `indent` characters from the left;
 * lines of text leave the rest of the line as it is. */
void ambit__screen_blocks(const ambit__image *image, ambit__screen how, int indent,
                          ambit__text *out);
void ambit__screen_ascii(const ambit__image *image, int indent, ambit__text *out);
void ambit__screen_sixel(const ambit__image *image, ambit__text *out);
/* `columns` x `rows` characters large. */
void ambit__screen_kitty(const ambit__image *image, int columns, int rows, ambit__text *out);

/* The number of a colour in the palettes of 256 and of 16 colours. */
int ambit__screen_256(ambit__rgb c);
int ambit__screen_16(ambit__rgb c);

#endif
