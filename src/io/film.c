/* SPDX-License-Identifier: BSD-3-Clause */
/* film.c - pictures as frames of a Y4M file. */
#include "base/file.h"
#include "base/integers.h"
#include "base/memory.h"
#include "io/draw.h"
#include "io/frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 3, PRECISION = 1000000 };

struct ambit__film {
  ambit__errors *errors;
  ambit__file *file;
  double rate; /* frames per second */
  int64_t frames;
  ambit__frame_form form; /* of the first frame; no width: there is none yet */
  ambit__rgb *pixels;
  unsigned char *planes; /* the same, as luma and chroma; behind them */
};

ambit_status ambit__film_create(ambit__errors *errors, const char *path, double rate,
                                ambit__film **out)
{
  ambit__film *f = *out = ambit__new(errors, 1, sizeof *f);
  ambit_status s;

  if (!f) return AMBIT_ENOMEM;
  f->errors = errors;
  f->rate = rate;
  s = ambit__file_create(errors, path, &f->file);
  if (s) {
    ambit__film_end(f);
    *out = NULL;
  }
  return s;
}

/* Codecs want even sides: the last pixel of a row, and the last row, are repeated. */
static int64_t even(int64_t n)
{
  return n + n % 2;
}

static ambit_status write_header(ambit__film *f, const ambit__picture *p)
{
  const int64_t width = even(p->width * p->zoom_x), height = even(p->height * p->zoom_y);
  char line[128];

  f->form = (ambit__frame_form){
      .nplanes = 1, .width = {width}, .height = {height}, .is_rgb = true, .is_packed = true};
  f->pixels = ambit__new(f->errors, (size_t)(width * height), 2 * CHANNELS);
  if (!f->pixels) return AMBIT_ENOMEM;
  f->planes = (unsigned char *)(f->pixels + width * height);
  snprintf(line, sizeof line, "YUV4MPEG2 W%" PRId64 " H%" PRId64 " F%lld:%d Ip A1:1 C444\n", width,
           height, (long long)(f->rate * PRECISION + 0.5), PRECISION);
  return ambit__file_write(f->file, line, strlen(line));
}

/* BT.601 with 16 to 235 for luma, which players take films of unknown colours for. */
static void draw(const ambit__film *f, const ambit__picture *p)
{
  const unsigned char *const bytes[] = {(const unsigned char *)f->pixels};
  ambit__rgb table[AMBIT__COLOURS], *to = f->pixels;

  ambit__colour_table(p->map, table);
  for (int64_t y = 0; y < f->form.height[0]; y++)
    for (int64_t x = 0; x < f->form.width[0]; x++)
      *to++ = ambit__picture_pixel(p, table, ambit__min64(x / p->zoom_x, p->width - 1),
                                   ambit__min64(y / p->zoom_y, p->height - 1));
  ambit__frame_to_yuv(&f->form, bytes, f->planes);
}

ambit_status ambit__film_add(ambit__film *f, const ambit__picture *p)
{
  if (!f->planes) AMBIT_TRY(write_header(f, p));
  draw(f, p);
  AMBIT_TRY(ambit__file_write(f->file, "FRAME\n", 6));
  AMBIT_TRY(ambit__file_write(f->file, f->planes,
                              (size_t)(CHANNELS * f->form.width[0] * f->form.height[0])));
  f->frames++;
  return ambit__file_beside(f->file) ? AMBIT_OK : ambit__file_flush(f->file); /* a pipe: at once */
}

ambit_status ambit__film_end(ambit__film *f)
{
  ambit_status s = AMBIT_OK;

  if (!f) return AMBIT_OK;
  if (f->file && f->frames)
    s = ambit__file_commit(f->file);
  else
    ambit__file_abort(f->file);
  free(f->pixels);
  free(f);
  return s;
}
