/* SPDX-License-Identifier: BSD-3-Clause */
/* waves.c - acoustic, elastic and electromagnetic waves. */
#include "driver.h"

static double centred(const int64_t *index, int component, void *user)
{
  return bench_smooth(index, component, user) - 0.5;
}

/* ---- order 4: 13 points, a sponge, a source ------------------------------------------------ */

static const char sponge_rule[] = AMBIT_SOURCE(void wave(
    const float *past, const float *now, float *next, const float *c, const float *sponge) {
  const float near =
      now[-1][0][0] + now[1][0][0] + now[0][-1][0] + now[0][1][0] + now[0][0][-1] + now[0][0][1];
  const float far =
      now[-2][0][0] + now[2][0][0] + now[0][-2][0] + now[0][2][0] + now[0][0][-2] + now[0][0][2];

  *next = *sponge * (2 * *now - *sponge * *past +
                     *c * (-7.5f * *now + 1.3333333f * near - 0.083333333f * far));
});
static const char source_rule[] =
    AMBIT_SOURCE(void source(float *u) { *u += 0.1f * sinf(0.2f * (float)step()); });

static double speed(const int64_t *index, int component, void *user)
{
  return 0.05 + 0.1 * bench_noise(index, component, user);
}

/* 1 inside, less in the 10 cells next to a face. */
static double damping(const int64_t *index, int component, void *user)
{
  const bench *b = user;
  double x = 1;

  (void)component;
  for (int d = 0; d < 3; d++) {
    const int64_t far = b->extent[d] - 1 - index[d], near = index[d] < far ? index[d] : far;

    if (near < 10) x *= 1 - 0.001 * (double)((10 - near) * (10 - near));
  }
  return x;
}

static void sponge_open(bench *b)
{
  ambit_field *past = bench_field(b, "past", AMBIT_F32, 2, centred);
  ambit_field *now = bench_field(b, "now", AMBIT_F32, 2, centred);
  ambit_field *next = bench_field(b, "next", AMBIT_F32, 2, NULL);
  ambit_field *c = bench_field(b, "c", AMBIT_F32, 2, speed);
  ambit_field *sponge = bench_field(b, "sponge", AMBIT_F32, 2, damping);
  ambit_field *turns[] = {past, now, next};
  const int64_t *n = b->extent;

  ambit_field_boundary(now, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(b->program, bench_kernel(b, sponge_rule), past, now, next, c, sponge);
  ambit_apply_box(b->program, AMBIT_INDEX(n[0] / 2, n[1] / 2, n[2] / 2),
                  AMBIT_INDEX(n[0] / 2 + 1, n[1] / 2 + 1, n[2] / 2 + 1),
                  bench_kernel(b, source_rule), next);
  ambit_rotate(b->program, 3, turns);
}

static void sponge_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], l = b->extent[2];
  ARRAY3(float, past, 0, 2);
  ARRAY3(float, now, 1, 2);
  ARRAY3(float, next, 2, 2);
  ARRAY3(float, c, 3, 2);
  ARRAY3(float, sponge, 4, 2);

#pragma omp parallel for collapse(2)
  for (int64_t i = 2; i < n + 2; i++)
    for (int64_t j = 2; j < m + 2; j++)
#pragma omp simd
      for (int64_t k = 2; k < l + 2; k++) {
        const float near = now[i - 1][j][k] + now[i + 1][j][k] + now[i][j - 1][k] +
                           now[i][j + 1][k] + now[i][j][k - 1] + now[i][j][k + 1];
        const float far = now[i - 2][j][k] + now[i + 2][j][k] + now[i][j - 2][k] +
                          now[i][j + 2][k] + now[i][j][k - 2] + now[i][j][k + 2];

        next[i][j][k] =
            sponge[i][j][k] *
            (2 * now[i][j][k] - sponge[i][j][k] * past[i][j][k] +
             c[i][j][k] * (-7.5f * now[i][j][k] + 1.3333333f * near - 0.083333333f * far));
      }
  next[n / 2 + 2][m / 2 + 2][l / 2 + 2] += 0.1f * sinf(0.2f * (float)b->iteration);
  bench_swap(b, 0, 1);
  bench_swap(b, 1, 2);
}

/* ---- order 8, the new values over the oldest ones ------------------------------------------ */

static const char order8_rule[] =
    AMBIT_SOURCE(void wave(float *before, const float *now, const float *c) {
      const float w[5] = {-2.847222f, 1.6f, -0.2f, 0.02539683f, -0.001785714f};
      float sum = 3 * w[0] * *now;

      for (int i = 1; i <= 4; i++)
        sum += w[i] * (now[-i][0][0] + now[i][0][0] + now[0][-i][0] + now[0][i][0] + now[0][0][-i] +
                       now[0][0][i]);
      *before = 2 * *now - *before + *c * sum;
    });

static void order8_open(bench *b)
{
  ambit_field *before = bench_field(b, "before", AMBIT_F32, 4, centred);
  ambit_field *now = bench_field(b, "now", AMBIT_F32, 4, centred);
  ambit_field *c = bench_field(b, "c", AMBIT_F32, 4, speed);

  ambit_field_boundary(now, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(b->program, bench_kernel(b, order8_rule), before, now, c);
  ambit_swap(b->program, before, now);
}

#define RING(u, r)                                                                                 \
  ((u)[i - (r)][j][k] + (u)[i + (r)][j][k] + (u)[i][j - (r)][k] + (u)[i][j + (r)][k] +             \
   (u)[i][j][k - (r)] + (u)[i][j][k + (r)])

static void order8_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], l = b->extent[2];
  ARRAY3(float, before, 0, 4);
  ARRAY3(float, now, 1, 4);
  ARRAY3(float, c, 2, 4);

#pragma omp parallel for collapse(2)
  for (int64_t i = 4; i < n + 4; i++)
    for (int64_t j = 4; j < m + 4; j++)
#pragma omp simd
      for (int64_t k = 4; k < l + 4; k++)
        before[i][j][k] = 2 * now[i][j][k] - before[i][j][k] +
                          c[i][j][k] * (3 * -2.847222f * now[i][j][k] + 1.6f * RING(now, 1) -
                                        0.2f * RING(now, 2) + 0.02539683f * RING(now, 3) -
                                        0.001785714f * RING(now, 4));
  bench_swap(b, 0, 1);
}

/* ---- elastic waves on a staggered grid ----------------------------------------------------- */

static const char velocity_rule[] =
    AMBIT_SOURCE(void velocity(float *vx, float *vz, const float *sxx, const float *szz,
                               const float *sxz, const float *light) {
      *vx += *light * (sxx[0][1] - *sxx + *sxz - sxz[-1][0]);
      *vz += *light * (szz[1][0] - *szz + *sxz - sxz[0][-1]);
    });
static const char stress_rule[] =
    AMBIT_SOURCE(void stress(float *sxx, float *szz, float *sxz, const float *vx, const float *vz,
                             const float *lambda, const float *mu) {
      const float exx = *vx - vx[0][-1];
      const float ezz = *vz - vz[-1][0];

      *sxx += (*lambda + 2 * *mu) * exx + *lambda * ezz;
      *szz += (*lambda + 2 * *mu) * ezz + *lambda * exx;
      *sxz += *mu * (vx[1][0] - *vx + vz[0][1] - *vz);
    });

static void elastic_open(bench *b)
{
  ambit_field *vx = bench_field(b, "vx", AMBIT_F32, 1, centred);
  ambit_field *vz = bench_field(b, "vz", AMBIT_F32, 1, centred);
  ambit_field *sxx = bench_field(b, "sxx", AMBIT_F32, 1, centred);
  ambit_field *szz = bench_field(b, "szz", AMBIT_F32, 1, centred);
  ambit_field *sxz = bench_field(b, "sxz", AMBIT_F32, 1, centred);
  ambit_field *light = bench_field(b, "light", AMBIT_F32, 1, speed);
  ambit_field *lambda = bench_field(b, "lambda", AMBIT_F32, 1, speed);
  ambit_field *mu = bench_field(b, "mu", AMBIT_F32, 1, speed);
  ambit_field *read[] = {vx, vz, sxx, szz, sxz};

  for (int i = 0; i < 5; i++)
    ambit_field_boundary(read[i], AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(b->program, bench_kernel(b, velocity_rule), vx, vz, sxx, szz, sxz, light);
  ambit_apply(b->program, bench_kernel(b, stress_rule), sxx, szz, sxz, vx, vz, lambda, mu);
}

static void elastic_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, vx, 0, 1);
  ARRAY2(float, vz, 1, 1);
  ARRAY2(float, sxx, 2, 1);
  ARRAY2(float, szz, 3, 1);
  ARRAY2(float, sxz, 4, 1);
  ARRAY2(float, light, 5, 1);
  ARRAY2(float, lambda, 6, 1);
  ARRAY2(float, mu, 7, 1);

#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      vx[i][j] += light[i][j] * (sxx[i][j + 1] - sxx[i][j] + sxz[i][j] - sxz[i - 1][j]);
      vz[i][j] += light[i][j] * (szz[i + 1][j] - szz[i][j] + sxz[i][j] - sxz[i][j - 1]);
    }
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const float exx = vx[i][j] - vx[i][j - 1], ezz = vz[i][j] - vz[i - 1][j];

      sxx[i][j] += (lambda[i][j] + 2 * mu[i][j]) * exx + lambda[i][j] * ezz;
      szz[i][j] += (lambda[i][j] + 2 * mu[i][j]) * ezz + lambda[i][j] * exx;
      sxz[i][j] += mu[i][j] * (vx[i + 1][j] - vx[i][j] + vz[i][j + 1] - vz[i][j]);
    }
}

/* ---- Maxwell in two dimensions: in place --------------------------------------------------- */

static const char magnetic2_rule[] =
    AMBIT_SOURCE(void magnetic(const float *e, float *hx, float *hy, float c) {
      *hx -= c * (e[1][0] - *e);
      *hy += c * (e[0][1] - *e);
    });
static const char electric2_rule[] =
    AMBIT_SOURCE(void electric(float *e, const float *hx, const float *hy, const float *c) {
      *e += *c * (*hy - hy[0][-1] - *hx + hx[-1][0]);
    });

static double permittivity(const int64_t *index, int component, void *user)
{
  return 0.2 + 0.3 * bench_noise(index, component, user);
}

static void fdtd2_open(bench *b)
{
  ambit_field *e = bench_field(b, "e", AMBIT_F32, 1, centred);
  ambit_field *hx = bench_field(b, "hx", AMBIT_F32, 1, centred);
  ambit_field *hy = bench_field(b, "hy", AMBIT_F32, 1, centred);
  ambit_field *c = bench_field(b, "c", AMBIT_F32, 1, permittivity);
  ambit_field *read[] = {e, hx, hy};

  for (int i = 0; i < 3; i++)
    ambit_field_boundary(read[i], AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(b->program, bench_kernel(b, magnetic2_rule), e, hx, hy, 0.5);
  ambit_apply(b->program, bench_kernel(b, electric2_rule), e, hx, hy, c);
}

static void fdtd2_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, e, 0, 1);
  ARRAY2(float, hx, 1, 1);
  ARRAY2(float, hy, 2, 1);
  ARRAY2(float, c, 3, 1);

#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      hx[i][j] -= 0.5f * (e[i + 1][j] - e[i][j]);
      hy[i][j] += 0.5f * (e[i][j + 1] - e[i][j]);
    }
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++)
      e[i][j] += c[i][j] * (hy[i][j] - hy[i][j - 1] - hx[i][j] + hx[i - 1][j]);
}

/* ---- Maxwell in three dimensions: in place, fields of three components --------------------- */

static const char magnetic3_rule[] =
    AMBIT_SOURCE(void magnetic(const float *e[3], float *h[3], float c) {
      *h[0] -= c * (e[2][0][1][0] - *e[2] - e[1][0][0][1] + *e[1]);
      *h[1] -= c * (e[0][0][0][1] - *e[0] - e[2][1][0][0] + *e[2]);
      *h[2] -= c * (e[1][1][0][0] - *e[1] - e[0][0][1][0] + *e[0]);
    });
static const char electric3_rule[] =
    AMBIT_SOURCE(void electric(float *e[3], const float *h[3], const float *c) {
      *e[0] += *c * (*h[2] - h[2][0][-1][0] - *h[1] + h[1][0][0][-1]);
      *e[1] += *c * (*h[0] - h[0][0][0][-1] - *h[2] + h[2][-1][0][0]);
      *e[2] += *c * (*h[1] - h[1][-1][0][0] - *h[0] + h[0][0][-1][0]);
    });

static void fdtd3_open(bench *b)
{
  ambit_field *e = bench_vector(b, "e", AMBIT_F32, 3, 1, centred);
  ambit_field *h = bench_vector(b, "h", AMBIT_F32, 3, 1, centred);
  ambit_field *c = bench_field(b, "c", AMBIT_F32, 1, permittivity);

  ambit_field_boundary(e, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_boundary(h, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(b->program, bench_kernel(b, magnetic3_rule), e, h, 0.4);
  ambit_apply(b->program, bench_kernel(b, electric3_rule), e, h, c);
}

static void fdtd3_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], l = b->extent[2];
  VECTOR3(float, e, 0, 1);
  VECTOR3(float, h, 1, 1);
  ARRAY3(float, c, 2, 1);

#pragma omp parallel for collapse(2)
  for (int64_t i = 1; i <= n; i++)
    for (int64_t j = 1; j <= m; j++)
#pragma omp simd
      for (int64_t k = 1; k <= l; k++) {
        h[0][i][j][k] -=
            0.4f * (e[2][i][j + 1][k] - e[2][i][j][k] - e[1][i][j][k + 1] + e[1][i][j][k]);
        h[1][i][j][k] -=
            0.4f * (e[0][i][j][k + 1] - e[0][i][j][k] - e[2][i + 1][j][k] + e[2][i][j][k]);
        h[2][i][j][k] -=
            0.4f * (e[1][i + 1][j][k] - e[1][i][j][k] - e[0][i][j + 1][k] + e[0][i][j][k]);
      }
#pragma omp parallel for collapse(2)
  for (int64_t i = 1; i <= n; i++)
    for (int64_t j = 1; j <= m; j++)
#pragma omp simd
      for (int64_t k = 1; k <= l; k++) {
        e[0][i][j][k] +=
            c[i][j][k] * (h[2][i][j][k] - h[2][i][j - 1][k] - h[1][i][j][k] + h[1][i][j][k - 1]);
        e[1][i][j][k] +=
            c[i][j][k] * (h[0][i][j][k] - h[0][i][j][k - 1] - h[2][i][j][k] + h[2][i - 1][j][k]);
        e[2][i][j][k] +=
            c[i][j][k] * (h[1][i][j][k] - h[1][i - 1][j][k] - h[0][i][j][k] + h[0][i][j - 1][k]);
      }
}

const bench_program bench_waves[] = {
    {"acoustic13", 3, {220, 220, 220}, {19, 20, 35}, 16, 1e-5, sponge_open, sponge_nest},
    {"acoustic_order8", 3, {240, 240, 240}, {19, 20, 35}, 12, 1e-5, order8_open, order8_nest},
    {"elastic2d", 2, {2000, 2000}, {45, 70}, 16, 1e-5, elastic_open, elastic_nest},
    {"fdtd2d", 2, {3000, 3000}, {45, 70}, 16, 1e-5, fdtd2_open, fdtd2_nest},
    {"fdtd3d", 3, {180, 180, 180}, {13, 14, 35}, 12, 1e-5, fdtd3_open, fdtd3_nest},
    {.name = NULL}};
