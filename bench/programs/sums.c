/* SPDX-License-Identifier: BSD-3-Clause */
/* sums.c - reductions, tables, fields of many components, values of the position. */
#include "driver.h"

static double other_noise(const int64_t *index, int component, void *user)
{
  return bench_noise(index, component + 1, user);
}

/* ---- least, greatest, sum and count at once ------------------------------------------------ */

static const char survey_rule[] = AMBIT_SOURCE(void survey(
    const float *u, min float *low, max float *high, sum float *total, sum long *count) {
  *low = *u;
  *high = *u;
  *total = *u;
  if (*u > 0.25f) *count += 1;
});

/* Two fields in turns, so that there is something to compute in every iteration. */
static void survey_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 0, bench_noise);
  ambit_field *other = bench_field(b, "other", AMBIT_F32, 0, other_noise);
  ambit_scalar *low = bench_scalar(b, "low", AMBIT_F32, 0);
  ambit_scalar *high = bench_scalar(b, "high", AMBIT_F32, 0);
  ambit_scalar *total = bench_scalar(b, "total", AMBIT_F32, 0);
  ambit_scalar *count = bench_scalar(b, "count", AMBIT_I64, 0);

  ambit_apply(b->program, bench_kernel(b, survey_rule), u, low, high, total, count);
  ambit_swap(b->program, u, other);
}

static void survey_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 0);
  float low = INFINITY, high = -INFINITY, total = 0;
  int64_t count = 0;

#pragma omp parallel for reduction(min : low) reduction(max : high) reduction(+ : total, count)
  for (int64_t i = 0; i < n; i++)
#pragma omp simd reduction(min : low) reduction(max : high) reduction(+ : total, count)
    for (int64_t j = 0; j < m; j++) {
      low = fminf(low, u[i][j]);
      high = fmaxf(high, u[i][j]);
      total += u[i][j];
      count += u[i][j] > 0.25f;
    }
  b->result[0] = low;
  b->result[1] = high;
  b->result[2] = total;
  b->result[3] = (double)count;
  bench_swap(b, 0, 1);
}

/* ---- a sum of floats in double ------------------------------------------------------------- */

static const char dot_rule[] =
    AMBIT_SOURCE(void dot(const float *a, const float *b, sum double *s) { *s = (double)*a * *b; });

static void dot_open(bench *b)
{
  ambit_field *x = bench_field(b, "x", AMBIT_F32, 0, bench_noise);
  ambit_field *y = bench_field(b, "y", AMBIT_F32, 0, bench_smooth);
  ambit_field *other = bench_field(b, "other", AMBIT_F32, 0, other_noise);
  ambit_scalar *s = bench_scalar(b, "s", AMBIT_F64, 0);

  ambit_apply(b->program, bench_kernel(b, dot_rule), x, y, s);
  ambit_swap(b->program, x, other);
}

static void dot_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, x, 0, 0);
  ARRAY2(float, y, 1, 0);
  double s = 0;

#pragma omp parallel for reduction(+ : s)
  for (int64_t i = 0; i < n; i++)
#pragma omp simd reduction(+ : s)
    for (int64_t j = 0; j < m; j++)
      s += (double)x[i][j] * y[i][j];
  b->result[0] = s;
  bench_swap(b, 0, 2);
}

/* ---- the sum of the residual of a relaxation, in float ------------------------------------- */

static const char residual_rule[] =
    AMBIT_SOURCE(void relax(const float *u, float *v, sum float *norm) {
      const float change = 0.2f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);

      *v = *u + change;
      *norm = change * change;
    });

static void residual_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, NULL);
  ambit_scalar *norm = bench_scalar(b, "norm", AMBIT_F32, 0);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(b->program, bench_kernel(b, residual_rule), u, v, norm);
  ambit_swap(b->program, u, v);
}

static void residual_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 1);
  ARRAY2(float, v, 1, 1);
  float norm = 0;

#pragma omp parallel for reduction(+ : norm)
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd reduction(+ : norm)
    for (int64_t j = 1; j <= m; j++) {
      const float change =
          0.2f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);

      v[i][j] = u[i][j] + change;
      norm += change * change;
    }
  b->result[0] = norm;
  bench_swap(b, 0, 1);
}

/* ---- float fields, a kernel that computes in double ---------------------------------------- */

static const char accurate_rule[] = AMBIT_SOURCE(void mean(const float *u, float *v) {
  double sum = 0;

  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++)
      sum += u[y][x];
  *v = (float)(sum / 9);
});

static void accurate_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(b->program, bench_kernel(b, accurate_rule), u, v);
  ambit_swap(b->program, u, v);
}

static void accurate_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 1);
  ARRAY2(float, v, 1, 1);

  bench_clamp(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++)
      v[i][j] = (float)(((double)u[i - 1][j - 1] + u[i - 1][j] + u[i - 1][j + 1] + u[i][j - 1] +
                         u[i][j] + u[i][j + 1] + u[i + 1][j - 1] + u[i + 1][j] + u[i + 1][j + 1]) /
                        9);
  bench_swap(b, 0, 1);
}

/* ---- 32 components ------------------------------------------------------------------------- */

static const char species_rule[] =
    AMBIT_SOURCE(void species(const float *f[32], float *g[32], float k) {
      for (int c = 0; c < 32; c++)
        *g[c] = *f[c] + k * (f[c][-1][0] + f[c][1][0] + f[c][0][-1] + f[c][0][1] - 4 * *f[c]) -
                0.01f * (*f[c] - *f[(c + 1) % 32]);
    });

static void species_open(bench *b)
{
  ambit_field *f = bench_vector(b, "f", AMBIT_F32, 32, 1, bench_noise);
  ambit_field *g = bench_vector(b, "g", AMBIT_F32, 32, 1, NULL);

  ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, species_rule), f, g, 0.1);
  ambit_swap(b->program, f, g);
}

static void species_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  VECTOR2(float, f, 0, 1);
  VECTOR2(float, g, 1, 1);
  const float k = 0.1f;

  bench_wrap(b, 0);
#pragma omp parallel for collapse(2)
  for (int c = 0; c < 32; c++)
    for (int64_t i = 1; i <= n; i++)
#pragma omp simd
      for (int64_t j = 1; j <= m; j++)
        g[c][i][j] = f[c][i][j] +
                     k * (f[c][i - 1][j] + f[c][i + 1][j] + f[c][i][j - 1] + f[c][i][j + 1] -
                          4 * f[c][i][j]) -
                     0.01f * (f[c][i][j] - f[(c + 1) % 32][i][j]);
  bench_swap(b, 0, 1);
}

/* ---- a matrix of 8 x 8 numbers ------------------------------------------------------------- */

static const char matrix_rule[] =
    AMBIT_SOURCE(void mix(const float *f[8], float *g[8], table float a[8][8]) {
      for (int i = 0; i < 8; i++) {
        float sum = 0;

        for (int j = 0; j < 8; j++)
          sum += a[i][j] * *f[j];
        *g[i] = sum;
      }
    });

static float matrix[8][8];

static void matrix_open(bench *b)
{
  ambit_field *f = bench_vector(b, "f", AMBIT_F32, 8, 0, bench_noise);
  ambit_field *g = bench_vector(b, "g", AMBIT_F32, 8, 0, NULL);

  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      matrix[i][j] = (i == j ? 0.5f : 0) + 0.0625f + 0.001f * (float)((3 * i + 5 * j) % 8 - 4);
  ambit_apply(b->program, bench_kernel(b, matrix_rule), f, g,
              ambit_arg_table(matrix, AMBIT_F32, 8, 8));
  ambit_swap(b->program, f, g);
}

static void matrix_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  VECTOR2(float, f, 0, 0);
  VECTOR2(float, g, 1, 0);

#pragma omp parallel for
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < 8; c++) {
      const float *a = matrix[c];

#pragma omp simd
      for (int64_t j = 0; j < m; j++)
        g[c][i][j] = a[0] * f[0][i][j] + a[1] * f[1][i][j] + a[2] * f[2][i][j] + a[3] * f[3][i][j] +
                     a[4] * f[4][i][j] + a[5] * f[5][i][j] + a[6] * f[6][i][j] + a[7] * f[7][i][j];
    }
  bench_swap(b, 0, 1);
}

/* ---- a function sampled at 64 points ------------------------------------------------------- */

static const char lookup_rule[] =
    AMBIT_SOURCE(void react(const float *u, float *v, table float rate[64]) {
      *v = *u + 0.1f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u) +
           0.01f * rate[(int)(63 * *u)];
    });

static float rates[64];

static void lookup_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, NULL);

  for (int i = 0; i < 64; i++)
    rates[i] = 0.5f - (float)i / 63;
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, lookup_rule), u, v,
              ambit_arg_table(rates, AMBIT_F32, 1, 64));
  ambit_swap(b->program, u, v);
}

static void lookup_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 1);
  ARRAY2(float, v, 1, 1);

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const int at = (int)(63 * u[i][j]);

      v[i][j] = u[i][j] +
                0.1f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]) +
                0.01f * rates[at < 0    ? 0
                              : at > 63 ? 63
                                        : at];
    }
  bench_swap(b, 0, 1);
}

/* ---- noise: a hash of the index ------------------------------------------------------------ */

static const char hash_rule[] = AMBIT_SOURCE(void hash(float *u) {
  int x = (int)(index(0) * 73856093) ^ (int)(index(1) * 19349663) ^ (int)(step() * 83492791);

  x = (x ^ (x >> 15)) * 0x2c1b3c6d;
  x = x ^ (x >> 12);
  *u = 0.5f * *u + (float)(x & 0xffff) / 65536;
});

static void hash_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 0, bench_noise);

  ambit_apply(b->program, bench_kernel(b, hash_rule), u);
}

/* Wraps as the kernel language does: products in unsigned numbers, shifts of signed ones. */
static void hash_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], step = b->iteration;
  ARRAY2(float, u, 0, 0);

#pragma omp parallel for
  for (int64_t i = 0; i < n; i++)
#pragma omp simd
    for (int64_t j = 0; j < m; j++) {
      int x = (int)(i * 73856093) ^ (int)(j * 19349663) ^ (int)(step * 83492791);

      x = (int)((unsigned)(x ^ (x >> 15)) * 0x2c1b3c6du);
      x = x ^ (x >> 12);
      u[i][j] = 0.5f * u[i][j] + (float)(x & 0xffff) / 65536;
    }
}

const bench_program bench_sums[] = {
    {"survey", 2, {4000, 4000}, {45, 70}, 16, 2e-4, survey_open, survey_nest},
    {"dot", 2, {4000, 4000}, {45, 70}, 16, 1e-12, dot_open, dot_nest},
    {"residual", 2, {4000, 4000}, {45, 70}, 16, 2e-4, residual_open, residual_nest},
    {"mean_double", 2, {3000, 3000}, {45, 70}, 16, 1e-6, accurate_open, accurate_nest},
    {"components32", 2, {600, 600}, {25, 40}, 8, 1e-5, species_open, species_nest},
    {"matrix8", 2, {1500, 1500}, {45, 70}, 12, 1e-5, matrix_open, matrix_nest},
    {"lookup", 2, {3000, 3000}, {45, 70}, 16, 1e-3, lookup_open, lookup_nest},
    {"hash", 2, {3000, 3000}, {45, 70}, 16, 1e-6, hash_open, hash_nest},
    {.name = NULL}};
