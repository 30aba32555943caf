/* SPDX-License-Identifier: BSD-3-Clause */
/* png.c - pictures that Ambit draws, row by row. */
#include "io/png.h"

#include "base/memory.h"
#include "io/frames.h"

#include <stdio.h>
#include <stdlib.h>

enum { NOTE = 80 }; /* characters */

/* A picture while it is written. */
typedef struct drawer {
  const ambit__picture *p;
  ambit__rgb *line; /* one row of pixels */
  ambit__rgb colours[AMBIT__COLOURS];
} drawer;

_Static_assert(sizeof(ambit__rgb) == 3, "rows of ambit__rgb are passed to libpng as bytes");

static const unsigned char *draw_row(void *user, int64_t row)
{
  const drawer *d = user;
  const int64_t y = row / d->p->zoom_y;
  ambit__rgb *pixel = d->line;

  for (int64_t x = 0; row % d->p->zoom_y == 0 && x < d->p->width; x++) {
    const ambit__rgb colour = ambit__picture_pixel(d->p, d->colours, x, y);

    for (int i = 0; i < d->p->zoom_x; i++)
      *pixel++ = colour;
  }
  return (const unsigned char *)d->line;
}

/* The text of the file that ambit__png_form reads. */
static void note_drawing(const drawer *d, char text[NOTE])
{
  const ambit__picture *p = d->p;
  const bool has_zero = p->lo <= 0 && p->hi >= 0;
  const ambit__rgb zero = has_zero ? d->colours[ambit__picture_colour(p, 0)] : AMBIT__NO_COLOUR;

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
  drawer d = {.p = p};
  char note[NOTE];
  ambit_status s;

  AMBIT_TRY(ambit__png_try(errors, path));
  AMBIT_NEW(errors, d.line, (size_t)form.width[0]);
  ambit__colour_table(p->map, d.colours);
  note_drawing(&d, note);
  s = ambit__png_write_rows(errors, path, &form, note, draw_row, &d);
  free(d.line);
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
