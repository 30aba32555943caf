/* SPDX-License-Identifier: BSD-3-Clause */
/* libpng reports errors by longjmp. The jump is confined to encode() and open_encoder(), whose
 * frames own nothing and change no local after setjmp; everything to be freed belongs to the
 * encoder, which the caller cleans up. */
#include "io/png.h"

#ifndef AMBIT_HAVE_PNG

ambit_status ambit__png_try(ambit__errors *errors, const char *path)
{
  return ambit__raise(errors, AMBIT_EIO,
                      "cannot write %s: Ambit was built without libpng; install libpng-dev "
                      "(Debian, Ubuntu) or libpng-devel (Fedora) and rebuild, or save as .npy",
                      path);
}

ambit_status ambit__png_write(ambit__errors *errors, const char *path, int64_t width,
                              int64_t height, ambit__row_fn get_row, void *user,
                              const ambit__picture_options *options)
{
  (void)width, (void)height, (void)get_row, (void)user, (void)options;
  return ambit__png_try(errors, path);
}

ambit_status ambit__png_put(ambit__errors *errors, const char *path, const ambit__picture *p)
{
  (void)p;
  return ambit__png_try(errors, path);
}

#else

#  include "base/file.h"
#  include "base/memory.h"

#  include <png.h>
#  include <setjmp.h>
#  include <stdio.h>
#  include <stdlib.h>

enum { NOTE = 80 }; /* characters */

typedef struct encoder {
  ambit__errors *errors;
  const char *path;
  ambit__file *file;
  png_structp png;
  png_infop info;
  ambit__rgb *line; /* one row of pixels */
  ambit__rgb colours[AMBIT__COLOURS];
  ambit_status failed;
  jmp_buf out; /* target in encode(), for errors of libpng */
} encoder;

static void on_error(png_structp png, png_const_charp message)
{
  encoder *e = png_get_error_ptr(png);

  if (!e->failed)
    e->failed = ambit__raise(e->errors, AMBIT_EIO, "cannot write %s: libpng: %s", e->path, message);
  longjmp(e->out, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
  (void)png, (void)message;
}

static void on_write(png_structp png, png_bytep data, png_size_t bytes)
{
  encoder *e = png_get_io_ptr(png);

  e->failed = ambit__file_write(e->file, data, bytes);
  if (e->failed) png_error(png, "write failed");
}

static void on_flush(png_structp png)
{
  (void)png;
}

_Static_assert(sizeof(ambit__rgb) == 3, "rows of ambit__rgb are passed to libpng as bytes");

static void draw_row(encoder *e, const ambit__picture *p, int64_t y)
{
  ambit__rgb *pixel = e->line;

  for (int64_t x = 0; x < p->width; x++) {
    const ambit__rgb colour = ambit__picture_pixel(p, e->colours, x, y);

    for (int i = 0; i < p->zoom_x; i++)
      *pixel++ = colour;
  }
}

static void write_rows(encoder *e, const ambit__picture *p)
{
  for (int64_t y = 0; y < p->height; y++) {
    draw_row(e, p, y);
    for (int i = 0; i < p->zoom_y; i++)
      png_write_row(e->png, (png_const_bytep)e->line);
  }
}

/* Sets a text of the file that ambit__png_drawn reads. */
static void note_drawing(const encoder *e, const ambit__picture *p, char text[NOTE])
{
  const bool has_zero = p->lo <= 0 && p->hi >= 0;
  const ambit__rgb zero = has_zero ? e->colours[ambit__picture_colour(p, 0)] : AMBIT__NO_COLOUR;
  png_text note = {.compression = PNG_TEXT_COMPRESSION_NONE, .key = AMBIT__PNG_KEY, .text = text};

  snprintf(text, NOTE, "0 is %d %d %d, %s of %d x %d pixels", zero.r, zero.g, zero.b,
           p->averaged ? "means" : "cells", p->zoom_x, p->zoom_y);
  png_set_text(e->png, e->info, &note, 1);
}

static ambit_status encode(encoder *e, const ambit__picture *p)
{
  char text[NOTE];

  if (setjmp(e->out)) return e->failed;
  png_set_write_fn(e->png, e, on_write, on_flush);
  png_set_IHDR(e->png, e->info, (png_uint_32)(p->width * p->zoom_x),
               (png_uint_32)(p->height * p->zoom_y), 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_sRGB(e->png, e->info, PNG_sRGB_INTENT_PERCEPTUAL);
  png_set_compression_level(e->png, 4); /* half the time of the default, 1/6 more bytes */
  note_drawing(e, p, text);
  png_write_info(e->png, e->info);
  write_rows(e, p);
  png_write_end(e->png, NULL);
  return AMBIT_OK;
}

static ambit_status open_encoder(encoder *e, const ambit__picture *p)
{
  e->line = ambit__new(e->errors, (size_t)(p->width * p->zoom_x), sizeof *e->line);
  if (!e->line) return AMBIT_ENOMEM;
  ambit__colour_table(p->map, e->colours);
  if (setjmp(e->out)) return e->failed; /* a libpng that differs from that of the build */
  e->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, e, on_error, on_warning);
  if (e->png) e->info = png_create_info_struct(e->png);
  AMBIT_CHECK(e->info, e->errors, AMBIT_ENOMEM, "cannot write %s: libpng is out of memory",
              e->path);
  return ambit__file_create(e->errors, e->path, &e->file);
}

static void close_encoder(encoder *e)
{
  png_destroy_write_struct(&e->png, &e->info);
  ambit__file_abort(e->file);
  free(e->line);
}

ambit_status ambit__png_put(ambit__errors *errors, const char *path, const ambit__picture *p)
{
  encoder e = {.errors = errors, .path = path};
  ambit_status s = open_encoder(&e, p);

  if (!s) s = encode(&e, p);
  if (!s) {
    s = ambit__file_commit(e.file);
    e.file = NULL;
  }
  close_encoder(&e);
  return s;
}

ambit_status ambit__png_try(ambit__errors *errors, const char *path)
{
  (void)errors, (void)path;
  return AMBIT_OK;
}

ambit_status ambit__png_write(ambit__errors *errors, const char *path, int64_t width,
                              int64_t height, ambit__row_fn get_row, void *user,
                              const ambit__picture_options *options)
{
  ambit__picture p;
  ambit_status s;

  AMBIT_TRY(ambit__picture_make(errors, width, height, get_row, user, options, &p));
  s = ambit__png_put(errors, path, &p);
  ambit__picture_free(&p);
  return s;
}

#endif
