/* SPDX-License-Identifier: BSD-3-Clause */
/* integers.c - bytes and shorts: cellular automata and image filters. */
#include "driver.h"

/* ---- the Game of Life ---------------------------------------------------------------------- */

static const char life_rule[] = AMBIT_SOURCE(void life(const unsigned char *u, unsigned char *v) {
  int n = 0;

  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++)
      n += u[y][x];
  *v = n == 3 || (n == 4 && *u);
});

static double alive(const int64_t *index, int component, void *user)
{
  return bench_noise(index, component, user) < 0.3;
}

static void life_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_U8, 1, alive);
  ambit_field *v = bench_field(b, "v", AMBIT_U8, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, life_rule), u, v);
  ambit_swap(b->program, u, v);
}

static void life_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(unsigned char, u, 0, 1);
  ARRAY2(unsigned char, v, 1, 1);

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      int sum = 0;

      for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
          sum += u[i + y][j + x];
      v[i][j] = sum == 3 || (sum == 4 && u[i][j]);
    }
  bench_swap(b, 0, 1);
}

/* ---- filters of 3 x 3 bytes: the least value, and the median ------------------------------- */

static const char erode_rule[] = AMBIT_SOURCE(void erode(const unsigned char *u, unsigned char *v) {
  int low = 255;

  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++)
      if (u[y][x] < low) low = u[y][x];
  *v = (unsigned char)low;
});
static const char median_rule[] =
    AMBIT_SOURCE(void median(const unsigned char *u, unsigned char *v) {
      const int a[19] = {1, 4, 7, 0, 3, 6, 1, 4, 7, 0, 5, 4, 3, 1, 2, 4, 4, 6, 4};
      const int b[19] = {2, 5, 8, 1, 4, 7, 2, 5, 8, 3, 8, 7, 6, 4, 5, 7, 2, 4, 2};
      int p[9];

      for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
          p[3 * y + x] = u[y - 1][x - 1];
      for (int i = 0; i < 19; i++) {
        const int low = p[a[i]] < p[b[i]] ? p[a[i]] : p[b[i]];
        const int high = p[a[i]] < p[b[i]] ? p[b[i]] : p[a[i]];

        p[a[i]] = low;
        p[b[i]] = high;
      }
      *v = (unsigned char)p[4];
    });

static double grey(const int64_t *index, int component, void *user)
{
  return floor(255.9 * bench_noise(index, component, user));
}

static double other_grey(const int64_t *index, int component, void *user)
{
  return grey(index, component + 1, user);
}

/* Two pictures in turns, so that there is something to compute in every iteration. */
static void filter_open(bench *b, const char *rule)
{
  ambit_field *u = bench_field(b, "u", AMBIT_U8, 1, grey);
  ambit_field *other = bench_field(b, "other", AMBIT_U8, 1, other_grey);
  ambit_field *v = bench_field(b, "v", AMBIT_U8, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(b->program, bench_kernel(b, rule), u, v);
  ambit_swap(b->program, u, other);
}

static void erode_open(bench *b)
{
  filter_open(b, erode_rule);
}

static void median_open(bench *b)
{
  filter_open(b, median_rule);
}

static void erode_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(unsigned char, u, 0, 1);
  ARRAY2(unsigned char, v, 2, 1);

  bench_clamp(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      unsigned char low = 255;

      for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
          low = u[i + y][j + x] < low ? u[i + y][j + x] : low;
      v[i][j] = low;
    }
  bench_swap(b, 0, 1);
}

#define SORT(a, b)                                                                                 \
  do {                                                                                             \
    const unsigned char low = (a) < (b) ? (a) : (b), high = (a) < (b) ? (b) : (a);                 \
    (a) = low;                                                                                     \
    (b) = high;                                                                                    \
  } while (0)

static void median_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(unsigned char, u, 0, 1);
  ARRAY2(unsigned char, v, 2, 1);

  bench_clamp(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      unsigned char p0 = u[i - 1][j - 1], p1 = u[i - 1][j], p2 = u[i - 1][j + 1];
      unsigned char p3 = u[i][j - 1], p4 = u[i][j], p5 = u[i][j + 1];
      unsigned char p6 = u[i + 1][j - 1], p7 = u[i + 1][j], p8 = u[i + 1][j + 1];

      SORT(p1, p2);
      SORT(p4, p5);
      SORT(p7, p8);
      SORT(p0, p1);
      SORT(p3, p4);
      SORT(p6, p7);
      SORT(p1, p2);
      SORT(p4, p5);
      SORT(p7, p8);
      SORT(p0, p3);
      SORT(p5, p8);
      SORT(p4, p7);
      SORT(p3, p6);
      SORT(p1, p4);
      SORT(p2, p5);
      SORT(p4, p7);
      SORT(p4, p2);
      SORT(p6, p4);
      SORT(p4, p2);
      v[i][j] = p4;
    }
  bench_swap(b, 0, 1);
}

/* ---- water that runs down a ground of shorts ----------------------------------------------- */

static const char rain_rule[] = AMBIT_SOURCE(
    static float flow(float a, float b) { return 0.1f * fminf(fmaxf(b - a, -1), 1); }

    void rain(const short *ground, const float *w, float *w2) {
      const float level = *ground * 0.01f + *w;

      *w2 = *w + flow(level, ground[-1][0] * 0.01f + w[-1][0]) +
            flow(level, ground[1][0] * 0.01f + w[1][0]) +
            flow(level, ground[0][-1] * 0.01f + w[0][-1]) +
            flow(level, ground[0][1] * 0.01f + w[0][1]);
    });

static double hills(const int64_t *index, int component, void *user)
{
  return floor(1000 * bench_noise(index, component, user));
}

static void rain_open(bench *b)
{
  ambit_field *ground = bench_field(b, "ground", AMBIT_I16, 1, hills);
  ambit_field *w = bench_field(b, "w", AMBIT_F32, 1, bench_noise);
  ambit_field *w2 = bench_field(b, "w2", AMBIT_F32, 1, NULL);

  ambit_field_boundary(ground, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_boundary(w, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(b->program, bench_kernel(b, rain_rule), ground, w, w2);
  ambit_swap(b->program, w, w2);
}

static inline float flow(float a, float b)
{
  return 0.1f * fminf(fmaxf(b - a, -1), 1);
}

static void rain_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(short, ground, 0, 1);
  ARRAY2(float, w, 1, 1);
  ARRAY2(float, w2, 2, 1);

  if (b->iteration == 0) bench_clamp(b, 0);
  bench_clamp(b, 1);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const float level = ground[i][j] * 0.01f + w[i][j];

      w2[i][j] = w[i][j] + flow(level, ground[i - 1][j] * 0.01f + w[i - 1][j]) +
                 flow(level, ground[i + 1][j] * 0.01f + w[i + 1][j]) +
                 flow(level, ground[i][j - 1] * 0.01f + w[i][j - 1]) +
                 flow(level, ground[i][j + 1] * 0.01f + w[i][j + 1]);
    }
  bench_swap(b, 1, 2);
}

/* ---- a lattice gas on hexagons: six directions and a wall in the bits of a byte -------------- */

static const char fhp_rule[] = AMBIT_SOURCE(void fhp(const unsigned char *a, unsigned char *b) {
  const int odd = (int)(index(0) & 1), turn = (int)((index(0) + index(1) + step()) & 1);
  const int ne = odd ? a[1][0] : a[1][-1], nw = odd ? a[1][1] : a[1][0];
  const int sw = odd ? a[-1][1] : a[-1][0], se = odd ? a[-1][0] : a[-1][-1];
  const int s = (a[0][-1] & 1) | (ne & 2) | (nw & 4) | (a[0][1] & 8) | (sw & 16) | (se & 32);
  int t = s;

  if (s == 9)
    t = turn ? 18 : 36;
  else if (s == 18)
    t = turn ? 36 : 9;
  else if (s == 36)
    t = turn ? 9 : 18;
  else if (s == 21)
    t = 42;
  else if (s == 42)
    t = 21;
  *b = (*a & 64) ? 64 | ((s << 3 | s >> 3) & 63) : t;
});

static double particles(const int64_t *index, int component, void *user)
{
  const double x = bench_noise(index, component, user);

  return x < 0.02 ? 64 : floor(64 * x);
}

static void fhp_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_U8, 1, particles);
  ambit_field *v = bench_field(b, "v", AMBIT_U8, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, fhp_rule), u, v);
  ambit_swap(b->program, u, v);
}

static void fhp_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], step = b->iteration;
  ARRAY2(unsigned char, u, 0, 1);
  ARRAY2(unsigned char, v, 1, 1);

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++) {
    const int odd = (i - 1) & 1;

#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const int ne = u[i + 1][j - 1 + odd], nw = u[i + 1][j + odd];
      const int sw = u[i - 1][j + odd], se = u[i - 1][j - 1 + odd];
      const int s =
          (u[i][j - 1] & 1) | (ne & 2) | (nw & 4) | (u[i][j + 1] & 8) | (sw & 16) | (se & 32);
      const int turn = (int)((i + j + step) & 1);
      const int t = s == 9    ? (turn ? 18 : 36)
                    : s == 18 ? (turn ? 36 : 9)
                    : s == 36 ? (turn ? 9 : 18)
                    : s == 21 ? 42
                    : s == 42 ? 21
                              : s;

      v[i][j] = (unsigned char)(u[i][j] & 64 ? 64 | ((s << 3 | s >> 3) & 63) : t);
    }
  }
  bench_swap(b, 0, 1);
}

const bench_program bench_integers[] = {
    {"life", 2, {8000, 8000}, {61, 90}, 24, 0, life_open, life_nest},
    {"erode", 2, {8000, 8000}, {61, 90}, 12, 0, erode_open, erode_nest},
    {"median", 2, {8000, 8000}, {61, 90}, 8, 0, median_open, median_nest},
    {"rain", 2, {3000, 3000}, {45, 70}, 16, 1e-5, rain_open, rain_nest},
    {"lattice_gas", 2, {8000, 8000}, {60, 90}, 12, 0, fhp_open, fhp_nest},
    {.name = NULL}};
