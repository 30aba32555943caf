/* SPDX-License-Identifier: BSD-3-Clause */
/* film.c - pictures as frames of a Y4M file: BT.601 with 16 to 235 for luma, which players take films
 * of unknown colours for. */
#include "base/integers.h"
#include "base/memory.h"
#include "io/draw.h"
#include "io/frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PRECISION = 1000000 };

struct ambit__film {
  ambit__errors *errors;
  double rate; /* frames per second */
  int64_t frames;
  ambit__frames_in like; /* the form of frames, that of the first one, and the header */
  ambit__frames_out out;
  ambit__rgb *pixels; /* of a frame; owned */
};

ambit_status ambit__film_create(ambit__errors *errors, const char *path, double rate,
                                ambit__film **out)
{
  ambit__film *f = *out = ambit__new(errors, 1, sizeof *f);

  if (!f) return AMBIT_ENOMEM;
  f->errors = errors;
  f->rate = rate;
  f->like.path = path;
  return AMBIT_OK;
}

/* Codecs want even sides: the last pixel of a row, and the last row, are repeated. */
static int64_t even(int64_t n)
{
  return n + n % 2;
}

static ambit_status begin(ambit__film *f, const ambit__picture *p)
{
  const int64_t width = even(p->width * p->zoom_x), height = even(p->height * p->zoom_y);

  f->like.form = (ambit__frame_form){
      .nplanes = 1, .width = {width}, .height = {height}, .is_rgb = true, .is_packed = true};
  snprintf(f->like.header, sizeof f->like.header,
           "YUV4MPEG2 W%" PRId64 " H%" PRId64 " F%lld:%d Ip A1:1 C444", width, height,
           (long long)(f->rate * PRECISION + 0.5), PRECISION);
  free(f->pixels);
  AMBIT_NEW(f->errors, f->pixels, (size_t)(width * height));
  return ambit__frames_create(f->errors, f->like.path, 0, &f->like, &f->out);
}

static void draw(const ambit__film *f, const ambit__picture *p)
{
  ambit__rgb table[AMBIT__COLOURS], *to = f->pixels;

  ambit__colour_table(p->map, table);
  for (int64_t y = 0; y < f->like.form.height[0]; y++)
    for (int64_t x = 0; x < f->like.form.width[0]; x++)
      *to++ = ambit__picture_pixel(p, table, ambit__min64(x / p->zoom_x, p->width - 1),
                                   ambit__min64(y / p->zoom_y, p->height - 1));
}

ambit_status ambit__film_add(ambit__film *f, const ambit__picture *p)
{
  ambit__frame_tail tail = {.parameters = ""};

  if (!f->out.file) AMBIT_TRY(begin(f, p));
  draw(f, p);
  tail.form = f->like.form;
  AMBIT_TRY(ambit__frames_write(&f->out, f->errors, f->frames, &tail,
                                (const unsigned char *const[]){(unsigned char *)f->pixels}));
  f->frames++;
  return AMBIT_OK;
}

ambit_status ambit__film_end(ambit__film *f)
{
  ambit_status s;

  if (!f) return AMBIT_OK;
  s = ambit__frames_finish(&f->out, f->errors, f->frames > 0);
  free(f->pixels);
  free(f);
  return s;
}
