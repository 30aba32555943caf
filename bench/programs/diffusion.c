/* SPDX-License-Identifier: BSD-3-Clause */
/* diffusion.c - heat, written in several ways, and other operators on one field. */
#include "driver.h"

/* A step from u to v and a swap; the values at fixed faces are in both arrays of the nest. */
static void ping_pong(bench *b, const char *rule, ambit_type type, ambit_boundary kind, int ghost)
{
  ambit_field *u = bench_field(b, "u", type, ghost, bench_noise);
  ambit_field *v = bench_field(b, "v", type, ghost, bench_noise);

  ambit_field_boundary(u, AMBIT_ALL_FACES, kind, 0);
  ambit_apply(b->program, bench_kernel(b, rule), u, v);
  ambit_swap(b->program, u, v);
}

/* ---- the rule of README.md, with its reduction --------------------------------------------- */

static const char heat_rule[] =
    AMBIT_SOURCE(void heat(const float *u, float *v, float k, max float *change) {
      *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
      *change = fabsf(*v - *u);
    });

/* Cells above the first row are 100, in the ghost row of the nest's two arrays. */
static void heat_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, NULL);
  ambit_scalar *change = bench_scalar(b, "change", AMBIT_F32, 0);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_CONSTANT, 100);
  ambit_apply(b->program, bench_kernel(b, heat_rule), u, v, 0.24, change);
  ambit_swap(b->program, u, v);
  for (int64_t j = 1; j <= b->extent[1]; j++)
    ((float *)b->array[0])[j] = ((float *)b->array[1])[j] = 100;
}

static void heat_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 1);
  ARRAY2(float, v, 1, 1);
  const float k = 0.24f;
  float change = 0;

#pragma omp parallel for reduction(max : change)
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd reduction(max : change)
    for (int64_t j = 1; j <= m; j++) {
      v[i][j] = u[i][j] + k * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
      change = fmaxf(change, fabsf(v[i][j] - u[i][j]));
    }
  b->result[0] = change;
  bench_swap(b, 0, 1);
}

/* ---- literal weights, fixed faces ---------------------------------------------------------- */

static const char literal_rule[] = AMBIT_SOURCE(void heat(const float *u, float *v) {
  *v = 0.5f * *u + 0.125f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);
});

static void literal_open(bench *b)
{
  ping_pong(b, literal_rule, AMBIT_F32, AMBIT_FIXED, 0);
}

static void literal_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 0);
  ARRAY2(float, v, 1, 0);

#pragma omp parallel for
  for (int64_t i = 1; i < n - 1; i++)
#pragma omp simd
    for (int64_t j = 1; j < m - 1; j++)
      v[i][j] = 0.5f * u[i][j] + 0.125f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
  bench_swap(b, 0, 1);
}

/* ---- (1 - 4 k) u + k (...), double, periodic ----------------------------------------------- */

static const char weighted_rule[] = AMBIT_SOURCE(void heat(const double *u, double *v, double k) {
  *v = (1 - 4 * k) * *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);
});

static void weighted_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F64, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F64, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, weighted_rule), u, v, 0.2);
  ambit_swap(b->program, u, v);
}

static void weighted_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(double, u, 0, 1);
  ARRAY2(double, v, 1, 1);
  const double k = 0.2;

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++)
      v[i][j] = (1 - 4 * k) * u[i][j] + k * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
  bench_swap(b, 0, 1);
}

/* ---- cells that a mask of bytes keeps ------------------------------------------------------ */

static const char masked_rule[] =
    AMBIT_SOURCE(void heat(const float *u, float *v, const unsigned char *solid) {
      if (*solid)
        *v = *u;
      else
        *v = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);
    });

static double solid(const int64_t *index, int component, void *user)
{
  return bench_noise(index, component + 7, user) < 0.1;
}

static void masked_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 0, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 0, bench_noise);
  ambit_field *mask = bench_field(b, "mask", AMBIT_U8, 0, solid);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  ambit_apply(b->program, bench_kernel(b, masked_rule), u, v, mask);
  ambit_swap(b->program, u, v);
}

static void masked_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 0);
  ARRAY2(float, v, 1, 0);
  ARRAY2(unsigned char, mask, 2, 0);

#pragma omp parallel for
  for (int64_t i = 1; i < n - 1; i++)
#pragma omp simd
    for (int64_t j = 1; j < m - 1; j++)
      v[i][j] =
          mask[i][j] ? u[i][j] : 0.25f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
  bench_swap(b, 0, 1);
}

/* ---- red-black Gauss-Seidel in place ------------------------------------------------------- */

static const char relax_rule[] = AMBIT_SOURCE(void relax(float *u, const float *f, int colour) {
  if ((index(0) + index(1)) % 2 == colour)
    *u = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - *f);
});

static void red_black_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_noise);
  ambit_field *f = bench_field(b, "f", AMBIT_F32, 1, bench_smooth);
  ambit_kernel *relax = bench_kernel(b, relax_rule);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(b->program, relax, u, f, 0);
  ambit_apply(b->program, relax, u, f, 1);
}

static void red_black_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 1);
  ARRAY2(float, f, 1, 1);

  for (int colour = 0; colour < 2; colour++)
#pragma omp parallel for
    for (int64_t i = 1; i <= n; i++)
#pragma omp simd
      for (int64_t j = 1 + (i + 1 + colour) % 2; j <= m; j += 2)
        u[i][j] = 0.25f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
}

/* ---- 27 points, symmetric weights ---------------------------------------------------------- */

static const char box27_rule[] = AMBIT_SOURCE(void box27(const float *u, float *v) {
  const float w[4] = {0.4f, 0.05f, 0.02f, 0.0075f};
  float sum = 0;

  for (int z = -1; z <= 1; z++)
    for (int y = -1; y <= 1; y++)
      for (int x = -1; x <= 1; x++)
        sum += w[z * z + y * y + x * x] * u[z][y][x];
  *v = sum;
});

static void box27_open(bench *b)
{
  ping_pong(b, box27_rule, AMBIT_F32, AMBIT_FIXED, 0);
}

/* The cells of a plane: its centre, the four beside it, the four at corners. */
#define PLUS(u)  ((u)[-1][k] + (u)[1][k] + (u)[0][k - 1] + (u)[0][k + 1])
#define CROSS(u) ((u)[-1][k - 1] + (u)[-1][k + 1] + (u)[1][k - 1] + (u)[1][k + 1])

static void box27_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], l = b->extent[2];
  ARRAY3(float, u, 0, 0);
  ARRAY3(float, v, 1, 0);

#pragma omp parallel for collapse(2)
  for (int64_t i = 1; i < n - 1; i++)
    for (int64_t j = 1; j < m - 1; j++) {
      float(*p)[l] = &u[i - 1][j], (*q)[l] = &u[i][j], (*r)[l] = &u[i + 1][j];

#pragma omp simd
      for (int64_t k = 1; k < l - 1; k++)
        v[i][j][k] = 0.4f * q[0][k] + 0.05f * (p[0][k] + r[0][k] + PLUS(q)) +
                     0.02f * (PLUS(p) + PLUS(r) + CROSS(q)) + 0.0075f * (CROSS(p) + CROSS(r));
    }
  bench_swap(b, 0, 1);
}

/* ---- a star of radius 4 -------------------------------------------------------------------- */

static const char star4_rule[] = AMBIT_SOURCE(void star(const float *u, float *v) {
  const float w[5] = {0.28f, 0.06f, 0.03f, 0.02f, 0.01f};
  float sum = w[0] * *u;

  for (int r = 1; r <= 4; r++)
    sum += w[r] * (u[-r][0][0] + u[r][0][0] + u[0][-r][0] + u[0][r][0] + u[0][0][-r] + u[0][0][r]);
  *v = sum;
});

static void star4_open(bench *b)
{
  ping_pong(b, star4_rule, AMBIT_F32, AMBIT_FIXED, 0);
}

/* The six cells at a distance. */
#define RING(u, r)                                                                                 \
  ((u)[i - (r)][j][k] + (u)[i + (r)][j][k] + (u)[i][j - (r)][k] + (u)[i][j + (r)][k] +             \
   (u)[i][j][k - (r)] + (u)[i][j][k + (r)])

static void star4_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], l = b->extent[2];
  ARRAY3(float, u, 0, 0);
  ARRAY3(float, v, 1, 0);

#pragma omp parallel for collapse(2)
  for (int64_t i = 4; i < n - 4; i++)
    for (int64_t j = 4; j < m - 4; j++)
#pragma omp simd
      for (int64_t k = 4; k < l - 4; k++)
        v[i][j][k] = 0.28f * u[i][j][k] + 0.06f * RING(u, 1) + 0.03f * RING(u, 2) +
                     0.02f * RING(u, 3) + 0.01f * RING(u, 4);
  bench_swap(b, 0, 1);
}

/* ---- seven points, seven fields of coefficients -------------------------------------------- */

static const char operator_rule[] =
    AMBIT_SOURCE(void apply(const double *c[7], const double *u, double *v) {
      *v = *c[0] * *u + *c[1] * u[-1][0][0] + *c[2] * u[1][0][0] + *c[3] * u[0][-1][0] +
           *c[4] * u[0][1][0] + *c[5] * u[0][0][-1] + *c[6] * u[0][0][1];
    });

static double coefficients(const int64_t *index, int component, void *user)
{
  return (component ? 0.1 : 0.4) * (0.5 + 0.5 * bench_noise(index, component, user));
}

static void operator_open(bench *b)
{
  ambit_field *c = bench_vector(b, "c", AMBIT_F64, 7, 1, coefficients);
  ambit_field *u = bench_field(b, "u", AMBIT_F64, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F64, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(b->program, bench_kernel(b, operator_rule), c, u, v);
  ambit_swap(b->program, u, v);
}

static void operator_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], l = b->extent[2];
  VECTOR3(double, c, 0, 1);
  ARRAY3(double, u, 1, 1);
  ARRAY3(double, v, 2, 1);

#pragma omp parallel for collapse(2)
  for (int64_t i = 1; i <= n; i++)
    for (int64_t j = 1; j <= m; j++)
#pragma omp simd
      for (int64_t k = 1; k <= l; k++)
        v[i][j][k] = c[0][i][j][k] * u[i][j][k] + c[1][i][j][k] * u[i - 1][j][k] +
                     c[2][i][j][k] * u[i + 1][j][k] + c[3][i][j][k] * u[i][j - 1][k] +
                     c[4][i][j][k] * u[i][j + 1][k] + c[5][i][j][k] * u[i][j][k - 1] +
                     c[6][i][j][k] * u[i][j][k + 1];
  bench_swap(b, 1, 2);
}

/* ---- Lax-Wendroff on a long row ------------------------------------------------------------ */

static const char row_rule[] = AMBIT_SOURCE(void row(const float *u, float *v, float c) {
  *v = *u - 0.5f * c * (u[1] - u[-1]) + 0.5f * c * c * (u[1] - 2 * *u + u[-1]);
});

static void row_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_smooth);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, row_rule), u, v, 0.5);
  ambit_swap(b->program, u, v);
}

static void row_nest(bench *b)
{
  const int64_t n = b->extent[0];
  const float *u = b->array[0], c = 0.5f;
  float *v = b->array[1];

  bench_wrap(b, 0);
#pragma omp parallel for simd
  for (int64_t i = 1; i <= n; i++)
    v[i] =
        u[i] - 0.5f * c * (u[i + 1] - u[i - 1]) + 0.5f * c * c * (u[i + 1] - 2 * u[i] + u[i - 1]);
  bench_swap(b, 0, 1);
}

const bench_program bench_diffusion[] = {
    {"heat", 2, {4000, 4000}, {61, 70}, 32, 1e-5, heat_open, heat_nest},
    {"heat_literal", 2, {4000, 4000}, {61, 70}, 32, 1e-5, literal_open, literal_nest},
    {"heat_weighted", 2, {3000, 3000}, {61, 70}, 32, 1e-13, weighted_open, weighted_nest},
    {"heat_masked", 2, {4000, 4000}, {61, 70}, 32, 1e-5, masked_open, masked_nest},
    {"red_black", 2, {4000, 4000}, {61, 70}, 12, 1e-5, red_black_open, red_black_nest},
    {"box27", 3, {250, 250, 250}, {17, 20, 35}, 12, 1e-5, box27_open, box27_nest},
    {"star3d4", 3, {250, 250, 250}, {17, 20, 35}, 12, 1e-5, star4_open, star4_nest},
    {"operator7", 3, {150, 150, 150}, {13, 14, 35}, 12, 1e-13, operator_open, operator_nest},
    {"lax_wendroff", 1, {16000000}, {5001}, 32, 1e-5, row_open, row_nest},
    {.name = NULL}};
