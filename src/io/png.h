/* SPDX-License-Identifier: BSD-3-Clause */
/* png.h - a scalar field as a PNG file, drawn by picture.h. Needs libpng. */
#ifndef AMBIT_IO_PNG_H
#define AMBIT_IO_PNG_H

#include "io/picture.h"

/* Whether files can be drawn at all. Built without libpng: AMBIT_EIO that says how to get it. */
ambit_status ambit__png_try(ambit__errors *errors, const char *path);

/* Draws a field of width x height cells, row 0 at the top. `options` may be NULL. The file appears
 * under its name when it is complete. */
ambit_status ambit__png_write(ambit__errors *errors, const char *path, int64_t width,
                              int64_t height, ambit__row_fn get_row, void *user,
                              const ambit__picture_options *options);

/* The same for a picture that was made. */
ambit_status ambit__png_put(ambit__errors *errors, const char *path, const ambit__picture *p);

/* How Ambit has drawn a picture, which is noted in the file (ambit__png_form in frames.h). */
typedef struct ambit__drawn {
  bool is_drawn;      /* false: it is another picture */
  int zoom_x, zoom_y; /* pixels of a cell; 1 if it is another picture */
  bool averaged;      /* pixels are means of several cells */
  ambit__rgb zero;    /* the colour of 0; black if it is another picture */
} ambit__drawn;

#define AMBIT__PNG_KEY "Ambit" /* of the note */

#endif
