/* SPDX-License-Identifier: BSD-3-Clause */
/* picture.c - a shaded relief with costs and a way, as a PNG file without compression. */
#include "terrain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- PNG ---- */

typedef struct png {
  FILE *out;
  uint32_t crc;  /* of the chunk that is being written */
  uint32_t a, b; /* Adler-32 of all rows */
} png;

static void put(png *p, const unsigned char *bytes, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    p->crc ^= bytes[i];
    for (int k = 0; k < 8; k++)
      p->crc = p->crc >> 1 ^ (p->crc & 1 ? 0xedb88320u : 0);
  }
  fwrite(bytes, 1, n, p->out);
}

static void put_number(png *p, uint32_t x)
{
  const unsigned char bytes[] = {(unsigned char)(x >> 24), (unsigned char)(x >> 16),
                                 (unsigned char)(x >> 8), (unsigned char)x};

  put(p, bytes, 4);
}

static void begin_chunk(png *p, uint32_t length, const char *kind)
{
  put_number(p, length);
  p->crc = 0xffffffffu;
  put(p, (const unsigned char *)kind, 4);
}

static void end_chunk(png *p)
{
  put_number(p, ~p->crc);
}

/* A row is a chunk of its own, and a stored block of the compressed stream. */
static void put_row(png *p, const unsigned char *row, uint32_t n, int first, int last)
{
  const unsigned char zlib[] = {0x78, 0x01};
  const unsigned char head[] = {(unsigned char)last, (unsigned char)n, (unsigned char)(n >> 8),
                                (unsigned char)~n, (unsigned char)(~n >> 8)};

  for (uint32_t i = 0; i < n; i++) {
    p->a = (p->a + row[i]) % 65521;
    p->b = (p->b + p->a) % 65521;
  }
  begin_chunk(p, n + 5 + (first ? 2 : 0) + (last ? 4 : 0), "IDAT");
  if (first) put(p, zlib, 2);
  put(p, head, 5);
  put(p, row, n);
  if (last) put_number(p, p->b << 16 | p->a);
  end_chunk(p);
}

/* ---- colours ---- */

/* Light from the north-west, at half height: 0 to 1. */
static double light(const map *m, int64_t y, int64_t x)
{
  const int64_t n = y > 0 ? y - 1 : y, s = y + 1 < m->height ? y + 1 : y;
  const int64_t w = x > 0 ? x - 1 : x, e = x + 1 < m->width ? x + 1 : x;
  const double slope_y = (m->z[s * m->width + x] - m->z[n * m->width + x]) / (2.0 * m->dy);
  const double slope_x = (m->z[y * m->width + e] - m->z[y * m->width + w]) / (2.0 * m->dx[y]);
  const double shade =
      (1 + slope_x + slope_y) / sqrt(1 + slope_x * slope_x + slope_y * slope_y) / 1.7321;

  return shade > 0 ? shade : 0;
}

/* From green, near, over yellow to red and violet, far; darker along lines of equal cost. */
static void colour(double share, double shade, unsigned char *rgb)
{
  static const double stops[5][3] = {{0.30, 0.75, 0.35},
                                     {0.85, 0.85, 0.40},
                                     {0.95, 0.60, 0.30},
                                     {0.80, 0.30, 0.35},
                                     {0.45, 0.25, 0.55}};
  const double at = share * 3.999;
  const int i = (int)at;
  const double line = fmod(share * 40, 1) < 0.07 ? 0.75 : 1;

  for (int c = 0; c < 3; c++) {
    const double hue = stops[i][c] + (at - i) * (stops[i + 1][c] - stops[i][c]);
    const double x = hue * line * (0.25 + 0.95 * shade);

    rgb[c] = (unsigned char)(255 * (x < 0 ? 0 : x > 1 ? 1 : x));
  }
}

static void paint(const map *m, double most, unsigned char *rgb)
{
  for (int64_t i = 0; i < m->height * m->width; i++, rgb += 3) {
    if (isinf(m->z[i]))
      memset(rgb, 40, 3); /* a wall */
    else if (isinf(m->cost[i]))
      memset(rgb, 128, 3); /* out of reach */
    else
      colour(m->cost[i] / most, light(m, i / m->width, i % m->width), rgb);
  }
}

/* ---- the way ---- */

static void dot(const map *m, int64_t cell, int radius, unsigned char level, unsigned char *rgb)
{
  const int64_t y = cell / m->width, x = cell % m->width;

  for (int64_t i = y - radius; i <= y + radius; i++)
    for (int64_t j = x - radius; j <= x + radius; j++)
      if (i >= 0 && i < m->height && j >= 0 && j < m->width &&
          (i - y) * (i - y) + (j - x) * (j - x) <= radius * radius)
        memset(rgb + 3 * (i * m->width + j), level, 3);
}

/* From a cell to the target: each step leads to the neighbour with the least sum. */
static void follow(const map *m, int64_t cell, int radius, unsigned char level, unsigned char *rgb)
{
  for (int64_t left = m->height * m->width; cell != m->target && left > 0; left--) {
    float best = INFINITY;
    int64_t next = cell;

    dot(m, cell, radius, level, rgb);
    for (int k = 0; k < 8; k++) {
      int64_t to;
      const float length = map_step(m, cell, k, &to);

      if (length < 0 || !(m->cost[to] + length < best)) continue;
      best = m->cost[to] + length;
      next = to;
    }
    if (next == cell) return;
    cell = next;
  }
}

static void put_picture(png *p, const map *m, const unsigned char *rgb, unsigned char *row)
{
  static const unsigned char magic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  static const unsigned char form[] = {8, 2, 0, 0, 0}; /* 8 bits, red, green and blue */
  const size_t bytes = 3 * (size_t)m->width;

  put(p, magic, sizeof magic);
  begin_chunk(p, 13, "IHDR");
  put_number(p, (uint32_t)m->width);
  put_number(p, (uint32_t)m->height);
  put(p, form, sizeof form);
  end_chunk(p);
  for (int64_t y = 0; y < m->height; y++) {
    row[0] = 0; /* no filter */
    memcpy(row + 1, rgb + (size_t)y * bytes, bytes);
    put_row(p, row, (uint32_t)bytes + 1, y == 0, y + 1 == m->height);
  }
  begin_chunk(p, 0, "IEND");
  end_chunk(p);
}

int draw(const map *m, int64_t start, const char *path)
{
  unsigned char *rgb = malloc(3 * (size_t)(m->height * m->width));
  unsigned char *row = malloc(3 * (size_t)m->width + 1);
  png p = {.out = m->width < 21000 ? fopen(path, "wb") : NULL, .a = 1};
  int failed = !rgb || !row || !p.out;
  const int wide = (int)(m->width / 900);
  double most = 1;

  for (int64_t i = 0; i < m->height * m->width; i++)
    if (!isinf(m->cost[i]) && m->cost[i] > most) most = m->cost[i];
  if (!failed) {
    paint(m, most, rgb);
    follow(m, start, wide + 2, 255, rgb);
    follow(m, start, wide, 0, rgb);
    dot(m, m->target, 3 * wide + 5, 255, rgb);
    dot(m, m->target, 3 * wide + 2, 0, rgb);
    put_picture(&p, m, rgb, row);
    failed = ferror(p.out);
  }
  if (p.out && fclose(p.out)) failed = 1;
  free(rgb);
  free(row);
  return failed;
}
