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

/* ---- a dendrite: the angle of the interface decides how fast it grows ------------------------ */

static const char dendrite_rule[] = AMBIT_SOURCE(
    void interface(const float *p, float *x, float *y, float *square) {
      const float px = 0.5f * (p[0][1] - p[0][-1]), py = 0.5f * (p[1][0] - p[-1][0]);
      const float angle = 6 * (atan2f(py, px) - 0.2f), steep = px * px + py * py;
      const float e = 1 + 0.04f * cosf(angle) * steep / (steep + 0.01f);

      *x = -0.24f * e * sinf(angle) * px;
      *y = -0.24f * e * sinf(angle) * py;
      *square = e * e;
    }

    void grow(const float *p, const float *t, const float *x, const float *y, const float *square,
              float *p2, float *t2) {
      const float drive = 0.29f * atanf(10 * (1 - *t));
      const float lp = p[0][1] + p[0][-1] + p[1][0] + p[-1][0] - 4 * *p;
      const float lt = t[0][1] + t[0][-1] + t[1][0] + t[-1][0] - 4 * *t;
      const float turn = 0.5f * (x[1][0] - x[-1][0] - y[0][1] + y[0][-1]);
      const float change = 0.1f * (turn + *square * lp + *p * (1 - *p) * (*p - 0.5f + drive));

      *p2 = *p + change;
      *t2 = *t + 0.1f * lt + 1.6f * change;
    });

static void dendrite_open(bench *b)
{
  ambit_field *p = bench_field(b, "p", AMBIT_F32, 1, bench_smooth);
  ambit_field *t = bench_field(b, "t", AMBIT_F32, 1, bench_noise);
  ambit_field *x = bench_field(b, "x", AMBIT_F32, 1, NULL);
  ambit_field *y = bench_field(b, "y", AMBIT_F32, 1, NULL);
  ambit_field *square = bench_field(b, "square", AMBIT_F32, 1, NULL);
  ambit_field *p2 = bench_field(b, "p2", AMBIT_F32, 1, NULL);
  ambit_field *t2 = bench_field(b, "t2", AMBIT_F32, 1, NULL);
  ambit_kernel *k = bench_kernel(b, dendrite_rule);

  for (int i = 0; i < b->nfields; i++)
    ambit_field_boundary(b->field[i], AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, k, p, x, y, square);
  ambit_apply(b->program, ambit_kernel_find(k, "grow"), p, t, x, y, square, p2, t2);
  ambit_swap(b->program, p, p2);
  ambit_swap(b->program, t, t2);
}

static void dendrite_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, p, 0, 1);
  ARRAY2(float, t, 1, 1);
  ARRAY2(float, x, 2, 1);
  ARRAY2(float, y, 3, 1);
  ARRAY2(float, square, 4, 1);
  ARRAY2(float, p2, 5, 1);
  ARRAY2(float, t2, 6, 1);

  bench_wrap(b, 0);
  bench_wrap(b, 1);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const float px = 0.5f * (p[i][j + 1] - p[i][j - 1]), py = 0.5f * (p[i + 1][j] - p[i - 1][j]);
      const float angle = 6 * (atan2f(py, px) - 0.2f), steep = px * px + py * py;
      const float e = 1 + 0.04f * cosf(angle) * steep / (steep + 0.01f);

      x[i][j] = -0.24f * e * sinf(angle) * px;
      y[i][j] = -0.24f * e * sinf(angle) * py;
      square[i][j] = e * e;
    }
  bench_wrap(b, 2);
  bench_wrap(b, 3);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const float drive = 0.29f * atanf(10 * (1 - t[i][j])), q = p[i][j];
      const float lp = p[i][j + 1] + p[i][j - 1] + p[i + 1][j] + p[i - 1][j] - 4 * q;
      const float lt = t[i][j + 1] + t[i][j - 1] + t[i + 1][j] + t[i - 1][j] - 4 * t[i][j];
      const float turn = 0.5f * (x[i + 1][j] - x[i - 1][j] - y[i][j + 1] + y[i][j - 1]);
      const float change = 0.1f * (turn + square[i][j] * lp + q * (1 - q) * (q - 0.5f + drive));

      p2[i][j] = q + change;
      t2[i][j] = t[i][j] + 0.1f * lt + 1.6f * change;
    }
  bench_swap(b, 0, 5);
  bench_swap(b, 1, 6);
}

/* ---- Hodgkin and Huxley: exponentials in double ---------------------------------------------- */

static const char axon_rule[] =
    AMBIT_SOURCE(void axon(const double *v, double *v2, double *m, double *h, double *n) {
      const double lap = v[-1][0] + v[1][0] + v[0][-1] + v[0][1] - 4 * *v;
      const double a = *v + 40.01, c = *v + 55.01, d = *v + 65;
      const double current =
          120 * pow(*m, 3.0) * *h * (*v - 50) + 36 * pow(*n, 4.0) * (*v + 77) + 0.3 * (*v + 54.4);

      *v2 = *v + 0.01 * (2 * lap - current);
      *m += 0.01 * (0.1 * a / (1 - exp(-0.1 * a)) * (1 - *m) - 4 * exp(d / -18) * *m);
      *h += 0.01 * (0.07 * exp(d / -20) * (1 - *h) - *h / (1 + exp(-0.1 * (*v + 35))));
      *n += 0.01 * (0.01 * c / (1 - exp(-0.1 * c)) * (1 - *n) - 0.125 * exp(d / -80) * *n);
    });

static double volts(const int64_t *index, int component, void *user)
{
  return 80 * bench_smooth(index, component, user) - 65;
}

static void axon_open(bench *b)
{
  ambit_field *v = bench_field(b, "v", AMBIT_F64, 1, volts);
  ambit_field *v2 = bench_field(b, "v2", AMBIT_F64, 1, NULL);
  ambit_field *m = bench_field(b, "m", AMBIT_F64, 1, bench_noise);
  ambit_field *h = bench_field(b, "h", AMBIT_F64, 1, bench_noise);
  ambit_field *n = bench_field(b, "n", AMBIT_F64, 1, bench_noise);

  ambit_field_boundary(v, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(v2, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, axon_rule), v, v2, m, h, n);
  ambit_swap(b->program, v, v2);
}

static void axon_nest(bench *b)
{
  ARRAY2(double, v, 0, 1);
  ARRAY2(double, v2, 1, 1);
  ARRAY2(double, ms, 2, 1);
  ARRAY2(double, hs, 3, 1);
  ARRAY2(double, ns, 4, 1);

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= b->extent[0]; i++)
#pragma omp simd
    for (int64_t j = 1; j <= b->extent[1]; j++) {
      const double lap = v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1] - 4 * v[i][j];
      const double e = v[i][j], a = e + 40.01, c = e + 55.01, d = e + 65;
      const double m = ms[i][j], h = hs[i][j], n = ns[i][j];
      const double current =
          120 * pow(m, 3.0) * h * (e - 50) + 36 * pow(n, 4.0) * (e + 77) + 0.3 * (e + 54.4);

      v2[i][j] = e + 0.01 * (2 * lap - current);
      ms[i][j] = m + 0.01 * (0.1 * a / (1 - exp(-0.1 * a)) * (1 - m) - 4 * exp(d / -18) * m);
      hs[i][j] = h + 0.01 * (0.07 * exp(d / -20) * (1 - h) - h / (1 + exp(-0.1 * (e + 35))));
      ns[i][j] = n + 0.01 * (0.01 * c / (1 - exp(-0.1 * c)) * (1 - n) - 0.125 * exp(d / -80) * n);
    }
  bench_swap(b, 0, 1);
}

const bench_program bench_reactions[] = {
    {"gray_scott", 2, {3000, 3000}, {45, 70}, 24, 1e-5, gray_scott_open, gray_scott_nest},
    {"fitzhugh_nagumo", 2, {3000, 3000}, {45, 70}, 24, 1e-5, nerve_open, nerve_nest},
    {"allen_cahn", 3, {240, 240, 240}, {17, 20, 35}, 16, 1e-5, allen_cahn_open, allen_cahn_nest},
    {"cahn_hilliard", 2, {2400, 2400}, {45, 70}, 16, 1e-12, cahn_hilliard_open, cahn_hilliard_nest},
    {"dendrite", 2, {1500, 1500}, {45, 70}, 8, 1e-3, dendrite_open, dendrite_nest},
    {"axon", 2, {1200, 1200}, {45, 70}, 8, 1e-10, axon_open, axon_nest},
    {.name = NULL}};
