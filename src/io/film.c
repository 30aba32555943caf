/* SPDX-License-Identifier: BSD-3-Clause */
/* film.c - pictures as frames of a Y4M file. */
#include "base/file.h"
#include "base/memory.h"
#include "io/draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLANES = 3, PRECISION = 1000000 };

struct ambit__film {
  ambit__errors *errors;
  ambit__file *file;
  double rate;           /* frames per second */
  int64_t width, height; /* pixels; 0: there is no frame yet */
  int64_t frames;
  unsigned char *bytes; /* of a frame, plane after plane */
  /* The colours of the map, and of NaN, in the planes. */
  ambit__colour_map map;
  unsigned char colours[AMBIT__COLOURS + 1][PLANES];
  ambit__rgb table[AMBIT__COLOURS];
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

static unsigned char sample(double base, double x)
{
  return (unsigned char)(base + x / 256 + 0.5);
}

/* BT.601 with 16 to 235 for luma, which players take films of unknown colours for. */
static void set_colour(unsigned char *to, ambit__rgb c)
{
  to[0] = sample(16, 65.738 * c.r + 129.057 * c.g + 25.064 * c.b);
  to[1] = sample(128, -37.945 * c.r - 74.494 * c.g + 112.439 * c.b);
  to[2] = sample(128, 112.439 * c.r - 94.154 * c.g - 18.285 * c.b);
}

static void set_colours(ambit__film *f, ambit__colour_map map)
{
  f->map = map;
  ambit__colour_table(map, f->table);
  for (int i = 0; i < AMBIT__COLOURS; i++)
    set_colour(f->colours[i], f->table[i]);
  set_colour(f->colours[AMBIT__COLOURS], AMBIT__NO_COLOUR);
}

/* Codecs want even sides: the last pixel of a row, and the last row, are repeated. */
static int64_t even(int64_t n)
{
  return n + n % 2;
}

static ambit_status write_header(ambit__film *f, const ambit__picture *p)
{
  char line[128];

  f->width = even(p->width * p->zoom_x);
  f->height = even(p->height * p->zoom_y);
  f->bytes = ambit__new(f->errors, (size_t)(f->width * f->height), PLANES);
  if (!f->bytes) return AMBIT_ENOMEM;
  snprintf(line, sizeof line, "YUV4MPEG2 W%" PRId64 " H%" PRId64 " F%lld:%d Ip A1:1 C444\n",
           f->width, f->height, (long long)(f->rate * PRECISION + 0.5), PRECISION);
  set_colours(f, p->map);
  return ambit__file_write(f->file, line, strlen(line));
}

static void draw_row(const ambit__film *f, const ambit__picture *p, int64_t y, int plane,
                     unsigned char *to)
{
  const int64_t row = y / p->zoom_y < p->height ? y / p->zoom_y : p->height - 1;
  const double *values = p->values + row * p->width;

  for (int64_t x = 0; x < f->width; x++) {
    const int64_t i = x / p->zoom_x < p->width ? x / p->zoom_x : p->width - 1;
    const int place = ambit__picture_colour(p, values[i]);
    unsigned char shaded[PLANES];

    if (p->relief) set_colour(shaded, ambit__picture_pixel(p, f->table, i, row));
    to[x] = p->relief ? shaded[plane] : f->colours[place < 0 ? AMBIT__COLOURS : place][plane];
  }
}

ambit_status ambit__film_add(ambit__film *f, const ambit__picture *p)
{
  const size_t plane = (size_t)(even(p->width * p->zoom_x) * even(p->height * p->zoom_y));

  if (!f->width) AMBIT_TRY(write_header(f, p));
  if (f->map != p->map) set_colours(f, p->map);
  for (int i = 0; i < PLANES; i++)
    for (int64_t y = 0; y < f->height; y++)
      draw_row(f, p, y, i, f->bytes + (size_t)i * plane + (size_t)(y * f->width));
  AMBIT_TRY(ambit__file_write(f->file, "FRAME\n", 6));
  AMBIT_TRY(ambit__file_write(f->file, f->bytes, PLANES * plane));
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
  free(f->bytes);
  free(f);
  return s;
}
