/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/picture.h"

#include "base/integers.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_SIDE = 2048, MIN_SIDE = 512, THIN = 32 };

/* The input, and its coarsening. */
typedef struct source {
  int64_t width, height;    /* cells */
  int64_t block_x, block_y; /* cells averaged into one value */
  ambit__row_fn get_row;
  void *user;
} source;

/* ---- size ---- */

static int64_t limit_block(int64_t block, int64_t length, int64_t side)
{
  int64_t coarsest = ambit__max64(1, length / THIN);

  return ambit__max64(block < coarsest ? block : coarsest, ambit__pieces(length, side));
}

/* Blocks are square, except that a thin field keeps a minimum height. */
static void choose_blocks(source *s, int64_t side)
{
  int64_t block = ambit__pieces(ambit__max64(s->width, s->height), side);

  s->block_x = limit_block(block, s->width, side);
  s->block_y = limit_block(block, s->height, side);
}

static int zoom_of(int64_t length, int64_t zoom)
{
  return (int)(length * zoom < THIN ? ambit__pieces(THIN, length) : zoom);
}

static void choose_zoom(ambit__picture *p, int64_t min_side)
{
  int64_t zoom = ambit__max64(1, min_side / ambit__max64(p->width, p->height));

  p->zoom_x = min_side > 1 ? zoom_of(p->width, zoom) : 1;
  p->zoom_y = min_side > 1 ? zoom_of(p->height, zoom) : 1;
}

/* ---- values ---- */

/* A row of blocks being averaged. */
typedef struct band {
  double *row;    /* one row of cells */
  double *sums;   /* per block */
  int64_t *count; /* cells of the block that are not NaN */
} band;

static void add_row(band *b, int64_t width, int64_t block)
{
  for (int64_t x = 0; x < width; x++) {
    if (isnan(b->row[x])) continue;
    b->sums[x / block] += b->row[x];
    b->count[x / block]++;
  }
}

static void finish_band(band *b, int64_t n, double *values)
{
  for (int64_t i = 0; i < n; i++) {
    values[i] = b->count[i] ? b->sums[i] / (double)b->count[i] : (double)NAN;
    b->sums[i] = 0;
    b->count[i] = 0;
  }
}

static ambit_status sample_bands(ambit__picture *p, band *b, const source *from)
{
  for (int64_t y = 0; y < from->height; y++) {
    AMBIT_TRY(from->get_row(from->user, y, b->row));
    add_row(b, from->width, from->block_x);
    if (y % from->block_y == from->block_y - 1 || y == from->height - 1)
      finish_band(b, p->width, p->values + y / from->block_y * p->width);
  }
  return AMBIT_OK;
}

static ambit_status sample(ambit__errors *errors, ambit__picture *p, const source *from)
{
  band b = {.row = ambit__new(errors, (size_t)from->width, sizeof *b.row),
            .sums = ambit__new(errors, (size_t)p->width, sizeof *b.sums),
            .count = ambit__new(errors, (size_t)p->width, sizeof *b.count)};
  ambit_status s = AMBIT_ENOMEM;

  if (b.row && b.sums && b.count) s = sample_bands(p, &b, from);
  free(b.row);
  free(b.sums);
  free(b.count);
  return s;
}

/* ---- range ---- */

/* Halved before subtracting: the difference of two huge values may overflow. */
static double place_in(double value, double lo, double hi)
{
  double t = hi > lo ? (value / 2 - lo / 2) / (hi / 2 - lo / 2) : 0;

  return t < 0 ? 0 : t > 1 ? 1 : t;
}

void ambit__finite_range(const double *values, int64_t n, double *lo, double *hi)
{
  *lo = INFINITY;
  *hi = -INFINITY;
  for (int64_t i = 0; i < n; i++) {
    const double x = values[i];

    if (x < *lo && x >= -DBL_MAX) *lo = x;
    if (x > *hi && x <= DBL_MAX) *hi = x;
  }
}

/* Values of both signs, neither negligible. */
static bool is_wave(double lo, double hi)
{
  return lo < 0 && hi > 0 && fmin(-lo, hi) >= 0.2 * fmax(-lo, hi);
}

void ambit__picture_range(ambit__picture *p, const ambit__picture_options *o)
{
  ambit__finite_range(p->values, p->width * p->height, &p->lo, &p->hi);
  if (p->lo > p->hi) p->lo = p->hi = 0;
  ambit__picture_span(p, o);
}

/* The range of a constant field is extended to zero. */
void ambit__picture_span(ambit__picture *p, const ambit__picture_options *o)
{
  bool given = o->lo < o->hi;

  p->relief = o->relief;
  p->is_flat = p->lo == p->hi;
  if (given) {
    p->lo = o->lo;
    p->hi = o->hi;
  }
  p->map = is_wave(p->lo, p->hi) ? AMBIT__TIDE : AMBIT__DUSK;
  if (o->map) p->map = (ambit__colour_map)(o->map - 1);
  if (given) return;
  if (p->map == AMBIT__TIDE) {
    p->hi = fmax(-p->lo, p->hi);
    p->lo = -p->hi;
  } else if (p->lo == p->hi) {
    p->lo = fmin(p->lo, 0);
    p->hi = fmax(p->hi, 0);
  }
}

int ambit__picture_colour(const ambit__picture *p, double value)
{
  if (isnan(value)) return -1;
  return (int)(place_in(value, p->lo, p->hi) * (AMBIT__COLOURS - 1) + 0.5);
}

/* ---- relief ---- */

/* The height of a value, in pixels: a range is an eighth of the picture high. */
static double height_at(const ambit__picture *p, int64_t x, int64_t y, double otherwise)
{
  const int64_t side = p->width > p->height ? p->width : p->height;
  double v;

  x = x < 0 ? 0 : x < p->width ? x : p->width - 1;
  y = y < 0 ? 0 : y < p->height ? y : p->height - 1;
  v = p->values[y * p->width + x];
  return isnan(v) ? otherwise : place_in(v, p->lo, p->hi) * (double)side / 8;
}

/* Light that the slope at a value reflects, 1 on level ground; from the upper left. */
static double light_at(const ambit__picture *p, int64_t x, int64_t y)
{
  const double here = height_at(p, x, y, 0);
  const double across = (height_at(p, x + 1, y, here) - height_at(p, x - 1, y, here)) / 2;
  const double down = (height_at(p, x, y + 1, here) - height_at(p, x, y - 1, here)) / 2;
  const double light = (1 + 0.7 * (across + down)) / sqrt(1 + across * across + down * down);

  return light < 0.45 ? 0.45 : light > 1.4 ? 1.4 : light;
}

static unsigned char lit(unsigned char c, double light)
{
  const double x = c * light + (light > 1 ? 40 * (light - 1) : 0);

  return (unsigned char)(x > 255 ? 255 : x + 0.5);
}

ambit__rgb ambit__picture_pixel(const ambit__picture *p, const ambit__rgb *table, int64_t x,
                                int64_t y)
{
  const int place = ambit__picture_colour(p, p->values[y * p->width + x]);
  const ambit__rgb c = place < 0 ? AMBIT__NO_COLOUR : table[place];
  double light;

  if (!p->relief || place < 0) return c;
  light = light_at(p, x, y);
  return (ambit__rgb){lit(c.r, light), lit(c.g, light), lit(c.b, light)};
}

ambit__rgb *ambit__picture_draw(ambit__errors *errors, const ambit__picture *p, int64_t width,
                                int64_t height)
{
  ambit__rgb *pixels = ambit__new(errors, (size_t)(width * height), sizeof *pixels), *to = pixels;
  ambit__rgb table[AMBIT__COLOURS];

  ambit__colour_table(p->map, table);
  for (int64_t y = 0; pixels && y < height; y++)
    for (int64_t x = 0; x < width; x++)
      *to++ = ambit__picture_pixel(p, table, ambit__min64(x / p->zoom_x, p->width - 1),
                                   ambit__min64(y / p->zoom_y, p->height - 1));
  return pixels;
}

ambit_status ambit__picture_make(ambit__errors *errors, int64_t width, int64_t height,
                                 ambit__row_fn get_row, void *user,
                                 const ambit__picture_options *options, ambit__picture *out)
{
  static const ambit__picture_options defaults;
  const ambit__picture_options *o = options ? options : &defaults;
  source from = {.width = width, .height = height, .get_row = get_row, .user = user};
  ambit_status s;

  *out = (ambit__picture){0};
  AMBIT_CHECK(width > 0 && height > 0, errors, AMBIT_EINVAL,
              "a picture of %lld x %lld cells; both must be at least 1", (long long)width,
              (long long)height);
  choose_blocks(&from, o->max_side > 0 ? o->max_side : MAX_SIDE);
  out->width = ambit__pieces(width, from.block_x);
  out->height = ambit__pieces(height, from.block_y);
  out->averaged = from.block_x > 1 || from.block_y > 1;
  choose_zoom(out, o->min_side > 0 ? o->min_side : MIN_SIDE);
  AMBIT_NEW(errors, out->values, (size_t)(out->width * out->height));
  s = sample(errors, out, &from);
  if (s)
    ambit__picture_free(out);
  else
    ambit__picture_range(out, o);
  return s;
}

void ambit__picture_free(ambit__picture *p)
{
  free(p->values);
  *p = (ambit__picture){0};
}
