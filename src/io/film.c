/* SPDX-License-Identifier: BSD-3-Clause */
/* film.c - pictures as frames of a Y4M file: BT.601 with 16 to 235 for luma, which players take for
 * granted. */
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
  return ambit__frames_create(f->errors, f->like.path, 0, &f->like, &f->out);
}

ambit_status ambit__film_add(ambit__film *f, const ambit__picture *p)
{
  ambit__frame_tail tail = {.parameters = ""};
  ambit__rgb *pixels;
  ambit_status s;

  if (!f->out.file) AMBIT_TRY(begin(f, p));
  tail.form = f->like.form;
  pixels = ambit__picture_draw(f->errors, p, tail.form.width[0], tail.form.height[0]);
  if (!pixels) return AMBIT_ENOMEM;
  s = ambit__frames_write(&f->out, f->errors, f->frames, &tail,
                          (const unsigned char *const[]){(unsigned char *)pixels});
  free(pixels);
  f->frames += !s;
  return s;
}

ambit_status ambit__film_end(ambit__film *f)
{
  ambit_status s;

  if (!f) return AMBIT_OK;
  s = ambit__frames_finish(&f->out, f->errors, f->frames > 0);
  free(f);
  return s;
}
