/* SPDX-License-Identifier: BSD-3-Clause */
/* axes.c - grids of four to six axes, and thin ones. */
#include "driver.h"

/* ---- thin boxes: the last axis is short ---------------------------------------------------- */

static const char thin_rule[] = AMBIT_SOURCE(void heat(const float *u, float *v) {
  *v = 0.4f * *u +
       0.1f * (u[-1][0][0] + u[1][0][0] + u[0][-1][0] + u[0][1][0] + u[0][0][-1] + u[0][0][1]);
});

static void thin_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(b->program, bench_kernel(b, thin_rule), u, v);
  ambit_swap(b->program, u, v);
}

static void thin_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], l = b->extent[2];
  ARRAY3(float, u, 0, 1);
  ARRAY3(float, v, 1, 1);

#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
    for (int64_t j = 1; j <= m; j++)
      for (int64_t k = 1; k <= l; k++)
        v[i][j][k] = 0.4f * u[i][j][k] + 0.1f * (u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] +
                                                 u[i][j + 1][k] + u[i][j][k - 1] + u[i][j][k + 1]);
  bench_swap(b, 0, 1);
}

/* ---- stars of four to six axes ------------------------------------------------------------- */

static const char star4d_rule[] = AMBIT_SOURCE(void star(const float *u, float *v) {
  *v = 0.2f * *u + 0.1f * (u[-1][0][0][0] + u[1][0][0][0] + u[0][-1][0][0] + u[0][1][0][0] +
                           u[0][0][-1][0] + u[0][0][1][0] + u[0][0][0][-1] + u[0][0][0][1]);
});
static const char star5d_rule[] = AMBIT_SOURCE(void star(const float *u, float *v) {
  *v = 0.1f * *u +
       0.09f * (u[-1][0][0][0][0] + u[1][0][0][0][0] + u[0][-1][0][0][0] + u[0][1][0][0][0] +
                u[0][0][-1][0][0] + u[0][0][1][0][0] + u[0][0][0][-1][0] + u[0][0][0][1][0] +
                u[0][0][0][0][-1] + u[0][0][0][0][1]);
});
static const char star6d_rule[] = AMBIT_SOURCE(void star(const double *u, double *v) {
  *v = 0.16 * *u + 0.07 * (u[-1][0][0][0][0][0] + u[1][0][0][0][0][0] + u[0][-1][0][0][0][0] +
                           u[0][1][0][0][0][0] + u[0][0][-1][0][0][0] + u[0][0][1][0][0][0] +
                           u[0][0][0][-1][0][0] + u[0][0][0][1][0][0] + u[0][0][0][0][-1][0] +
                           u[0][0][0][0][1][0] + u[0][0][0][0][0][-1] + u[0][0][0][0][0][1]);
});

static void star_open(bench *b, const char *rule, ambit_type type)
{
  ambit_field *u = bench_field(b, "u", type, 0, bench_noise);
  ambit_field *v = bench_field(b, "v", type, 0, bench_noise);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_FIXED, 0);
  ambit_apply(b->program, bench_kernel(b, rule), u, v);
  ambit_swap(b->program, u, v);
}

static void star4d_open(bench *b)
{
  star_open(b, star4d_rule, AMBIT_F32);
}

static void star5d_open(bench *b)
{
  star_open(b, star5d_rule, AMBIT_F32);
}

static void star6d_open(bench *b)
{
  star_open(b, star6d_rule, AMBIT_F64);
}

static void star4d_nest(bench *b)
{
  const int64_t *n = b->extent;
  ARRAY4(float, u, 0, 0);
  ARRAY4(float, v, 1, 0);

#pragma omp parallel for collapse(2)
  for (int64_t i = 1; i < n[0] - 1; i++)
    for (int64_t j = 1; j < n[1] - 1; j++)
      for (int64_t k = 1; k < n[2] - 1; k++)
#pragma omp simd
        for (int64_t l = 1; l < n[3] - 1; l++)
          v[i][j][k][l] = 0.2f * u[i][j][k][l] +
                          0.1f * (u[i - 1][j][k][l] + u[i + 1][j][k][l] + u[i][j - 1][k][l] +
                                  u[i][j + 1][k][l] + u[i][j][k - 1][l] + u[i][j][k + 1][l] +
                                  u[i][j][k][l - 1] + u[i][j][k][l + 1]);
  bench_swap(b, 0, 1);
}

static void star5d_nest(bench *b)
{
  const int64_t *n = b->extent;
  float(*u)[n[1]][n[2]][n[3]][n[4]] = b->array[0], (*v)[n[1]][n[2]][n[3]][n[4]] = b->array[1];

#pragma omp parallel for collapse(2)
  for (int64_t h = 1; h < n[0] - 1; h++)
    for (int64_t i = 1; i < n[1] - 1; i++)
      for (int64_t j = 1; j < n[2] - 1; j++)
        for (int64_t k = 1; k < n[3] - 1; k++)
#pragma omp simd
          for (int64_t l = 1; l < n[4] - 1; l++)
            v[h][i][j][k][l] =
                0.1f * u[h][i][j][k][l] +
                0.09f * (u[h - 1][i][j][k][l] + u[h + 1][i][j][k][l] + u[h][i - 1][j][k][l] +
                         u[h][i + 1][j][k][l] + u[h][i][j - 1][k][l] + u[h][i][j + 1][k][l] +
                         u[h][i][j][k - 1][l] + u[h][i][j][k + 1][l] + u[h][i][j][k][l - 1] +
                         u[h][i][j][k][l + 1]);
  bench_swap(b, 0, 1);
}

static void star6d_nest(bench *b)
{
  const int64_t *n = b->extent;
  double(*u)[n[1]][n[2]][n[3]][n[4]][n[5]] = b->array[0];
  double(*v)[n[1]][n[2]][n[3]][n[4]][n[5]] = b->array[1];

#pragma omp parallel for collapse(2)
  for (int64_t g = 1; g < n[0] - 1; g++)
    for (int64_t h = 1; h < n[1] - 1; h++)
      for (int64_t i = 1; i < n[2] - 1; i++)
        for (int64_t j = 1; j < n[3] - 1; j++)
          for (int64_t k = 1; k < n[4] - 1; k++)
#pragma omp simd
            for (int64_t l = 1; l < n[5] - 1; l++)
              v[g][h][i][j][k][l] =
                  0.16 * u[g][h][i][j][k][l] +
                  0.07 *
                      (u[g - 1][h][i][j][k][l] + u[g + 1][h][i][j][k][l] + u[g][h - 1][i][j][k][l] +
                       u[g][h + 1][i][j][k][l] + u[g][h][i - 1][j][k][l] + u[g][h][i + 1][j][k][l] +
                       u[g][h][i][j - 1][k][l] + u[g][h][i][j + 1][k][l] + u[g][h][i][j][k - 1][l] +
                       u[g][h][i][j][k + 1][l] + u[g][h][i][j][k][l - 1] + u[g][h][i][j][k][l + 1]);
  bench_swap(b, 0, 1);
}

/* ---- Vlasov: places x, y and velocities along them, a shift along one axis per step -------- */

static const char drift_rule[] = AMBIT_SOURCE(void drift(const float *f, float *g, float dt) {
  const float c = dt * ((float)index(2) - 0.5f * (float)(extent(2) - 1));

  *g = *f - 0.5f * c * (f[1][0][0][0] - f[-1][0][0][0]) +
       0.5f * c * c * (f[1][0][0][0] - 2 * *f + f[-1][0][0][0]);
});
static const char kick_rule[] = AMBIT_SOURCE(void kick(const float *g, float *f, float dt) {
  const float c = dt * ((float)index(0) - 0.5f * (float)(extent(0) - 1));

  *f = c > 0 ? *g - c * (*g - g[0][0][-1][0]) : *g - c * (g[0][0][1][0] - *g);
});
static const char kick_y_rule[] = AMBIT_SOURCE(void kick(const float *f, float *g, float dt) {
  const float c = dt * ((float)index(1) - 0.5f * (float)(extent(1) - 1));

  *g = c > 0 ? *f - c * (*f - f[0][0][0][-1]) : *f - c * (f[0][0][0][1] - *f);
});

static void vlasov_open(bench *b)
{
  ambit_field *f = bench_field(b, "f", AMBIT_F32, 1, bench_smooth);
  ambit_field *g = bench_field(b, "g", AMBIT_F32, 1, NULL);

  ambit_field_boundary(f, AMBIT_AXIS(0), AMBIT_PERIODIC, 0);
  ambit_field_boundary(f, AMBIT_AXIS(3), AMBIT_CONSTANT, 0);
  ambit_field_boundary(g, AMBIT_AXIS(2), AMBIT_CONSTANT, 0);
  ambit_apply(b->program, bench_kernel(b, drift_rule), f, g, 0.01);
  ambit_apply(b->program, bench_kernel(b, kick_rule), g, f, 0.01);
  ambit_apply(b->program, bench_kernel(b, kick_y_rule), f, g, 0.01);
  ambit_swap(b->program, f, g);
}

static void vlasov_nest(bench *b)
{
  const int64_t *n = b->extent;
  ARRAY4(float, f, 0, 1);
  ARRAY4(float, g, 1, 1);
  const float dt = 0.01f;

  /* the ghost cells of the other axes stay 0 */
#pragma omp parallel for
  for (int64_t j = 1; j <= n[1]; j++)
    for (int64_t k = 1; k <= n[2]; k++)
      for (int64_t l = 1; l <= n[3]; l++) {
        f[0][j][k][l] = f[n[0]][j][k][l];
        f[n[0] + 1][j][k][l] = f[1][j][k][l];
      }
#pragma omp parallel for collapse(2)
  for (int64_t i = 1; i <= n[0]; i++)
    for (int64_t j = 1; j <= n[1]; j++)
      for (int64_t k = 1; k <= n[2]; k++) {
        const float c = dt * ((float)(k - 1) - 0.5f * (float)(n[2] - 1));

#pragma omp simd
        for (int64_t l = 1; l <= n[3]; l++)
          g[i][j][k][l] =
              f[i][j][k][l] - 0.5f * c * (f[i + 1][j][k][l] - f[i - 1][j][k][l]) +
              0.5f * c * c * (f[i + 1][j][k][l] - 2 * f[i][j][k][l] + f[i - 1][j][k][l]);
      }
#pragma omp parallel for collapse(2)
  for (int64_t i = 1; i <= n[0]; i++)
    for (int64_t j = 1; j <= n[1]; j++)
      for (int64_t k = 1; k <= n[2]; k++) {
        const float c = dt * ((float)(i - 1) - 0.5f * (float)(n[0] - 1));

#pragma omp simd
        for (int64_t l = 1; l <= n[3]; l++)
          f[i][j][k][l] = c > 0 ? g[i][j][k][l] - c * (g[i][j][k][l] - g[i][j][k - 1][l])
                                : g[i][j][k][l] - c * (g[i][j][k + 1][l] - g[i][j][k][l]);
      }
#pragma omp parallel for collapse(2)
  for (int64_t i = 1; i <= n[0]; i++)
    for (int64_t j = 1; j <= n[1]; j++)
      for (int64_t k = 1; k <= n[2]; k++) {
        const float c = dt * ((float)(j - 1) - 0.5f * (float)(n[1] - 1));

#pragma omp simd
        for (int64_t l = 1; l <= n[3]; l++)
          g[i][j][k][l] = c > 0 ? f[i][j][k][l] - c * (f[i][j][k][l] - f[i][j][k][l - 1])
                                : f[i][j][k][l] - c * (f[i][j][k][l + 1] - f[i][j][k][l]);
      }
  bench_swap(b, 0, 1);
}

const bench_program bench_axes[] = {
    {"thin1", 3, {1500, 1500, 1}, {17, 50, 1}, 8, 1e-5, thin_open, thin_nest},
    {"thin3", 3, {1500, 1500, 3}, {17, 30, 3}, 8, 1e-5, thin_open, thin_nest},
    {"thin8", 3, {1200, 1200, 8}, {17, 20, 8}, 24, 1e-5, thin_open, thin_nest},
    {"star4d", 4, {60, 60, 60, 60}, {8, 7, 6, 35}, 16, 1e-5, star4d_open, star4d_nest},
    {"star5d", 5, {26, 26, 26, 26, 26}, {5, 6, 5, 6, 20}, 16, 1e-5, star5d_open, star5d_nest},
    {"star6d",
     6,
     {15, 15, 15, 15, 15, 15},
     {4, 5, 4, 5, 4, 19},
     16,
     1e-13,
     star6d_open,
     star6d_nest},
    {"vlasov", 4, {48, 48, 64, 64}, {8, 7, 6, 35}, 6, 1e-5, vlasov_open, vlasov_nest},
    {.name = NULL}};
