/* SPDX-License-Identifier: BSD-3-Clause */
/* reactions.c - reactions and diffusion, and the separation of phases. */
#include "driver.h"

/* ---- Gray-Scott ---------------------------------------------------------------------------- */

static const char gray_scott_rule[] = AMBIT_SOURCE(
    void gray_scott(const float *u, const float *v, float *u2, float *v2, float feed, float kill) {
      const float du = u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u;
      const float dv = v[-1][0] + v[1][0] + v[0][-1] + v[0][1] - 4 * *v;
      const float uvv = *u * *v * *v;

      *u2 = *u + 0.16f * du - uvv + feed * (1 - *u);
      *v2 = *v + 0.08f * dv + uvv - (feed + kill) * *v;
    });

static double drops(const int64_t *index, int component, void *user)
{
  return 0.3 * bench_smooth(index, component, user);
}

static void gray_scott_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, drops);
  ambit_field *u2 = bench_field(b, "u2", AMBIT_F32, 1, NULL);
  ambit_field *v2 = bench_field(b, "v2", AMBIT_F32, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(v, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, gray_scott_rule), u, v, u2, v2, 0.035, 0.06);
  ambit_swap(b->program, u, u2);
  ambit_swap(b->program, v, v2);
}

static void gray_scott_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 1);
  ARRAY2(float, v, 1, 1);
  ARRAY2(float, u2, 2, 1);
  ARRAY2(float, v2, 3, 1);
  const float feed = 0.035f, kill = 0.06f;

  bench_wrap(b, 0);
  bench_wrap(b, 1);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const float du = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j];
      const float dv = v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1] - 4 * v[i][j];
      const float uvv = u[i][j] * v[i][j] * v[i][j];

      u2[i][j] = u[i][j] + 0.16f * du - uvv + feed * (1 - u[i][j]);
      v2[i][j] = v[i][j] + 0.08f * dv + uvv - (feed + kill) * v[i][j];
    }
  bench_swap(b, 0, 2);
  bench_swap(b, 1, 3);
}

/* ---- FitzHugh-Nagumo: the recovery is updated in place -------------------------------------- */

static const char nerve_rule[] =
    AMBIT_SOURCE(void nerve(const float *u, float *u2, float *w, float dt) {
      const float lap = u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u;

      *u2 = *u + dt * (lap + *u - *u * *u * *u / 3 - *w);
      *w = *w + dt * 0.08f * (*u + 0.7f - 0.8f * *w);
    });

static double signed_noise(const int64_t *index, int component, void *user)
{
  return 2 * bench_noise(index, component, user) - 1;
}

static void nerve_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, signed_noise);
  ambit_field *u2 = bench_field(b, "u2", AMBIT_F32, 1, NULL);
  ambit_field *w = bench_field(b, "w", AMBIT_F32, 1, bench_smooth);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(b->program, bench_kernel(b, nerve_rule), u, u2, w, 0.1);
  ambit_swap(b->program, u, u2);
}

static void nerve_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 1);
  ARRAY2(float, u2, 1, 1);
  ARRAY2(float, w, 2, 1);
  const float dt = 0.1f;

  bench_clamp(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const float x = u[i][j], lap = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * x;

      u2[i][j] = x + dt * (lap + x - x * x * x / 3 - w[i][j]);
      w[i][j] += dt * 0.08f * (x + 0.7f - 0.8f * w[i][j]);
    }
  bench_swap(b, 0, 1);
}

/* ---- Allen-Cahn in three dimensions -------------------------------------------------------- */

static const char allen_cahn_rule[] =
    AMBIT_SOURCE(void allen_cahn(const float *u, float *v, float dt) {
      const float lap =
          u[-1][0][0] + u[1][0][0] + u[0][-1][0] + u[0][1][0] + u[0][0][-1] + u[0][0][1] - 6 * *u;

      *v = *u + dt * (lap + *u - *u * *u * *u);
    });

static void allen_cahn_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, signed_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, allen_cahn_rule), u, v, 0.1);
  ambit_swap(b->program, u, v);
}

static void allen_cahn_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], l = b->extent[2];
  ARRAY3(float, u, 0, 1);
  ARRAY3(float, v, 1, 1);
  const float dt = 0.1f;

  bench_wrap(b, 0);
#pragma omp parallel for collapse(2)
  for (int64_t i = 1; i <= n; i++)
    for (int64_t j = 1; j <= m; j++)
#pragma omp simd
      for (int64_t k = 1; k <= l; k++) {
        const float x = u[i][j][k];
        const float lap = u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] + u[i][j + 1][k] +
                          u[i][j][k - 1] + u[i][j][k + 1] - 6 * x;

        v[i][j][k] = x + dt * (lap + x - x * x * x);
      }
  bench_swap(b, 0, 1);
}

/* ---- Cahn-Hilliard: the potential, then the concentration in place ------------------------- */

static const char potential_rule[] =
    AMBIT_SOURCE(void potential(const double *c, double *mu, double gamma) {
      *mu = *c * *c * *c - *c - gamma * (c[-1][0] + c[1][0] + c[0][-1] + c[0][1] - 4 * *c);
    });
static const char concentration_rule[] =
    AMBIT_SOURCE(void concentration(double *c, const double *mu, double dt) {
      *c += dt * (mu[-1][0] + mu[1][0] + mu[0][-1] + mu[0][1] - 4 * *mu);
    });

static void cahn_hilliard_open(bench *b)
{
  ambit_field *c = bench_field(b, "c", AMBIT_F64, 1, signed_noise);
  ambit_field *mu = bench_field(b, "mu", AMBIT_F64, 1, NULL);

  ambit_field_boundary(c, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(mu, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, potential_rule), c, mu, 0.5);
  ambit_apply(b->program, bench_kernel(b, concentration_rule), c, mu, 0.02);
}

static void cahn_hilliard_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(double, c, 0, 1);
  ARRAY2(double, mu, 1, 1);
  const double gamma = 0.5, dt = 0.02;

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++)
      mu[i][j] = c[i][j] * c[i][j] * c[i][j] - c[i][j] -
                 gamma * (c[i - 1][j] + c[i + 1][j] + c[i][j - 1] + c[i][j + 1] - 4 * c[i][j]);
  bench_wrap(b, 1);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++)
      c[i][j] += dt * (mu[i - 1][j] + mu[i + 1][j] + mu[i][j - 1] + mu[i][j + 1] - 4 * mu[i][j]);
}

const bench_program bench_reactions[] = {
    {"gray_scott", 2, {3000, 3000}, {45, 70}, 24, 1e-5, gray_scott_open, gray_scott_nest},
    {"fitzhugh_nagumo", 2, {3000, 3000}, {45, 70}, 24, 1e-5, nerve_open, nerve_nest},
    {"allen_cahn", 3, {240, 240, 240}, {17, 20, 35}, 16, 1e-5, allen_cahn_open, allen_cahn_nest},
    {"cahn_hilliard", 2, {2400, 2400}, {45, 70}, 16, 1e-12, cahn_hilliard_open, cahn_hilliard_nest},
    {.name = NULL}};
