/* SPDX-License-Identifier: BSD-3-Clause */
/* png.c - pictures that Ambit draws. */
#include "io/png.h"

#include "io/frames.h"

#include <stdio.h>
#include <stdlib.h>

enum { NOTE = 80 }; /* characters */

_Static_assert(sizeof(ambit__rgb) == 3, "arrays of ambit__rgb are passed to libpng as bytes");

/* The text of the file that ambit__png_form reads. */
static void note_drawing(const ambit__picture *p, char text[NOTE])
{
  ambit__rgb colours[AMBIT__COLOURS], zero = AMBIT__NO_COLOUR;

  ambit__colour_table(p->map, colours);
  if (p->lo <= 0 && p->hi >= 0) zero = colours[ambit__picture_colour(p, 0)];
  snprintf(text, NOTE, "0 is %d %d %d, %s of %d x %d pixels", zero.r, zero.g, zero.b,
           p->averaged ? "means" : "cells", p->zoom_x, p->zoom_y);
}

ambit_status ambit__png_put(ambit__errors *errors, const char *path, const ambit__picture *p)
{
  const ambit__frame_form form = {.nplanes = 1,
                                  .width = {p->width * p->zoom_x},
                                  .height = {p->height * p->zoom_y},
                                  .is_rgb = true,
                                  .is_packed = true};
  char note[NOTE];
  ambit__rgb *pixels;
  ambit_status s;

  AMBIT_TRY(ambit__png_try(errors, path));
  pixels = ambit__picture_draw(errors, p, form.width[0], form.height[0]);
  if (!pixels) return AMBIT_ENOMEM;
  note_drawing(p, note);
  s = ambit__png_write_frame(errors, path, &form, note,
                             (const unsigned char *const[]){(unsigned char *)pixels});
  free(pixels);
  return s;
}

ambit_status ambit__png_write(ambit__errors *errors, const char *path, int64_t width,
                              int64_t height, ambit__row_fn get_row, void *user,
                              const ambit__picture_options *options)
{
  ambit__picture p;
  ambit_status s;

  AMBIT_TRY(ambit__png_try(errors, path));
  AMBIT_TRY(ambit__picture_make(errors, width, height, get_row, user, options, &p));
  s = ambit__png_put(errors, path, &p);
  ambit__picture_free(&p);
  return s;
}
