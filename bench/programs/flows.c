/* SPDX-License-Identifier: BSD-3-Clause */
/* flows.c - shallow water, advection by several schemes, and the equations of Navier and Stokes. */
#include "driver.h"

/* ---- shallow water on a C grid: the time step follows the fastest wave --------------------- */

static const char fastest_rule[] =
    AMBIT_SOURCE(void fastest(const float *h, const float *u, const float *v, max float *top) {
      *top = fmaxf(fabsf(*u), fabsf(*v)) + sqrtf(9.81f * *h);
    });
static const char time_step_rule[] =
    AMBIT_SOURCE(void time_step(float top, float *dt) { *dt = 0.3f / top; });
static const char momentum_rule[] =
    AMBIT_SOURCE(void momentum(float *u, float *v, const float *h, float dt) {
      *u -= dt * 9.81f * (*h - h[0][-1]);
      *v -= dt * 9.81f * (*h - h[-1][0]);
    });
static const char continuity_rule[] = AMBIT_SOURCE(
    void continuity(const float *h, const float *u, const float *v, float *next, float dt) {
      const float right = u[0][1] * 0.5f * (*h + h[0][1]);
      const float left = *u * 0.5f * (h[0][-1] + *h);
      const float below = v[1][0] * 0.5f * (*h + h[1][0]);
      const float above = *v * 0.5f * (h[-1][0] + *h);

      *next = *h - dt * (right - left + below - above);
    });

static double depth(const int64_t *index, int component, void *user)
{
  return 1 + 0.1 * bench_smooth(index, component, user);
}

static double slow(const int64_t *index, int component, void *user)
{
  return 0.1 * bench_smooth(index, component, user);
}

static void water_open(bench *b)
{
  ambit_field *h = bench_field(b, "h", AMBIT_F32, 1, depth);
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, slow);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, slow);
  ambit_field *next = bench_field(b, "next", AMBIT_F32, 1, NULL);
  ambit_scalar *top = bench_scalar(b, "top", AMBIT_F32, 0);
  ambit_scalar *dt = bench_scalar(b, "dt", AMBIT_F32, 0);

  ambit_field_boundary(h, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(v, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, fastest_rule), h, u, v, top);
  ambit_apply(b->program, bench_kernel(b, time_step_rule), top, dt);
  ambit_apply(b->program, bench_kernel(b, momentum_rule), u, v, h, dt);
  ambit_apply(b->program, bench_kernel(b, continuity_rule), h, u, v, next, dt);
  ambit_swap(b->program, h, next);
}

static void water_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, h, 0, 1);
  ARRAY2(float, u, 1, 1);
  ARRAY2(float, v, 2, 1);
  ARRAY2(float, next, 3, 1);
  float top = 0, dt;

  bench_wrap(b, 0);
#pragma omp parallel for reduction(max : top)
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd reduction(max : top)
    for (int64_t j = 1; j <= m; j++)
      top = fmaxf(top, fmaxf(fabsf(u[i][j]), fabsf(v[i][j])) + sqrtf(9.81f * h[i][j]));
  dt = 0.3f / top;
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      u[i][j] -= dt * 9.81f * (h[i][j] - h[i][j - 1]);
      v[i][j] -= dt * 9.81f * (h[i][j] - h[i - 1][j]);
    }
  bench_wrap(b, 1);
  bench_wrap(b, 2);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const float right = u[i][j + 1] * 0.5f * (h[i][j] + h[i][j + 1]);
      const float left = u[i][j] * 0.5f * (h[i][j - 1] + h[i][j]);
      const float below = v[i + 1][j] * 0.5f * (h[i][j] + h[i + 1][j]);
      const float above = v[i][j] * 0.5f * (h[i - 1][j] + h[i][j]);

      next[i][j] = h[i][j] - dt * (right - left + below - above);
    }
  b->result[0] = top;
  b->result[1] = dt;
  bench_swap(b, 0, 3);
}

/* ---- upwind differences, by conditions ----------------------------------------------------- */

static const char upwind_rule[] =
    AMBIT_SOURCE(void upwind(const float *q, const float *a, const float *b, float *r, float dt) {
      float change;

      if (*a > 0)
        change = *a * (*q - q[-1][0]);
      else
        change = *a * (q[1][0] - *q);
      if (*b > 0)
        change += *b * (*q - q[0][-1]);
      else
        change += *b * (q[0][1] - *q);
      *r = *q - dt * change;
    });

static double wind(const int64_t *index, int component, void *user)
{
  return bench_noise(index, component, user) - 0.5;
}

static void upwind_open(bench *b)
{
  ambit_field *q = bench_field(b, "q", AMBIT_F32, 1, bench_smooth);
  ambit_field *r = bench_field(b, "r", AMBIT_F32, 1, NULL);
  ambit_field *a = bench_field(b, "a", AMBIT_F32, 1, wind);
  ambit_field *c = bench_field(b, "b", AMBIT_F32, 1, wind);

  ambit_field_boundary(q, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, upwind_rule), q, a, c, r, 0.5);
  ambit_swap(b->program, q, r);
}

static void upwind_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, q, 0, 1);
  ARRAY2(float, r, 1, 1);
  ARRAY2(float, a, 2, 1);
  ARRAY2(float, c, 3, 1);
  const float dt = 0.5f;

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const float down = a[i][j] > 0 ? q[i][j] - q[i - 1][j] : q[i + 1][j] - q[i][j];
      const float across = c[i][j] > 0 ? q[i][j] - q[i][j - 1] : q[i][j + 1] - q[i][j];

      r[i][j] = q[i][j] - dt * (a[i][j] * down + c[i][j] * across);
    }
  bench_swap(b, 0, 1);
}

/* ---- WENO of order 5, both velocities positive --------------------------------------------- */

static const char weno_rule[] = AMBIT_SOURCE(
    static float face(float a, float b, float c, float d, float e) {
      const float s0 = 13 * (a - 2 * b + c) * (a - 2 * b + c) / 12 +
                       (a - 4 * b + 3 * c) * (a - 4 * b + 3 * c) / 4;
      const float s1 = 13 * (b - 2 * c + d) * (b - 2 * c + d) / 12 + (b - d) * (b - d) / 4;
      const float s2 = 13 * (c - 2 * d + e) * (c - 2 * d + e) / 12 +
                       (3 * c - 4 * d + e) * (3 * c - 4 * d + e) / 4;
      const float w0 = 0.1f / ((1e-6f + s0) * (1e-6f + s0));
      const float w1 = 0.6f / ((1e-6f + s1) * (1e-6f + s1));
      const float w2 = 0.3f / ((1e-6f + s2) * (1e-6f + s2));

      return (w0 * (2 * a - 7 * b + 11 * c) + w1 * (5 * c - b + 2 * d) + w2 * (2 * c + 5 * d - e)) /
             (6 * (w0 + w1 + w2));
    }

    void weno(const float *u, float *v, float k) {
      const float below = face(u[-2][0], u[-1][0], *u, u[1][0], u[2][0]);
      const float above = face(u[-3][0], u[-2][0], u[-1][0], *u, u[1][0]);
      const float right = face(u[0][-2], u[0][-1], *u, u[0][1], u[0][2]);
      const float left = face(u[0][-3], u[0][-2], u[0][-1], *u, u[0][1]);

      *v = *u - k * (below - above + right - left);
    });

static void weno_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 3, bench_smooth);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 3, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, weno_rule), u, v, 0.2);
  ambit_swap(b->program, u, v);
}

static inline float square(float x)
{
  return x * x;
}

static inline float weno_face(float a, float b, float c, float d, float e)
{
  const float s0 = 13 * square(a - 2 * b + c) / 12 + square(a - 4 * b + 3 * c) / 4;
  const float s1 = 13 * square(b - 2 * c + d) / 12 + square(b - d) / 4;
  const float s2 = 13 * square(c - 2 * d + e) / 12 + square(3 * c - 4 * d + e) / 4;
  const float w0 = 0.1f / square(1e-6f + s0), w1 = 0.6f / square(1e-6f + s1),
              w2 = 0.3f / square(1e-6f + s2);

  return (w0 * (2 * a - 7 * b + 11 * c) + w1 * (5 * c - b + 2 * d) + w2 * (2 * c + 5 * d - e)) /
         (6 * (w0 + w1 + w2));
}

static void weno_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 3);
  ARRAY2(float, v, 1, 3);
  const float k = 0.2f;

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 3; i < n + 3; i++)
#pragma omp simd
    for (int64_t j = 3; j < m + 3; j++) {
      const float below = weno_face(u[i - 2][j], u[i - 1][j], u[i][j], u[i + 1][j], u[i + 2][j]);
      const float above = weno_face(u[i - 3][j], u[i - 2][j], u[i - 1][j], u[i][j], u[i + 1][j]);
      const float right = weno_face(u[i][j - 2], u[i][j - 1], u[i][j], u[i][j + 1], u[i][j + 2]);
      const float left = weno_face(u[i][j - 3], u[i][j - 2], u[i][j - 1], u[i][j], u[i][j + 1]);

      v[i][j] = u[i][j] - k * (below - above + right - left);
    }
  bench_swap(b, 0, 1);
}

/* ---- advection and diffusion by the Runge-Kutta method of order 4 -------------------------- */

static const char first_rule[] =
    AMBIT_SOURCE(void first(const double *u, double *sum, double *next, double dt) {
      const double slope = 0.1 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u) -
                           0.25 * (u[1][0] - u[-1][0]) - 0.15 * (u[0][1] - u[0][-1]);

      *sum = *u + dt / 6 * slope;
      *next = *u + dt / 2 * slope;
    });
static const char middle_rule[] = AMBIT_SOURCE(void middle(
    const double *t, const double *u, double *sum, double *next, double dt, double part) {
  const double slope = 0.1 * (t[-1][0] + t[1][0] + t[0][-1] + t[0][1] - 4 * *t) -
                       0.25 * (t[1][0] - t[-1][0]) - 0.15 * (t[0][1] - t[0][-1]);

  *sum += dt / 3 * slope;
  *next = *u + part * dt * slope;
});
static const char last_rule[] =
    AMBIT_SOURCE(void last(const double *t, const double *sum, double *u, double dt) {
      const double slope = 0.1 * (t[-1][0] + t[1][0] + t[0][-1] + t[0][1] - 4 * *t) -
                           0.25 * (t[1][0] - t[-1][0]) - 0.15 * (t[0][1] - t[0][-1]);

      *u = *sum + dt / 6 * slope;
    });

static void rk4_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F64, 1, bench_noise);
  ambit_field *sum = bench_field(b, "sum", AMBIT_F64, 1, NULL);
  ambit_field *s = bench_field(b, "s", AMBIT_F64, 1, NULL);
  ambit_field *t = bench_field(b, "t", AMBIT_F64, 1, NULL);
  ambit_kernel *middle = bench_kernel(b, middle_rule);
  const double dt = 0.4;

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(s, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(t, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, first_rule), u, sum, s, dt);
  ambit_apply(b->program, middle, s, u, sum, t, dt, 0.5);
  ambit_apply(b->program, middle, t, u, sum, s, dt, 1);
  ambit_apply(b->program, bench_kernel(b, last_rule), s, sum, u, dt);
}

#define SLOPE(u)                                                                                   \
  (0.1 * ((u)[i - 1][j] + (u)[i + 1][j] + (u)[i][j - 1] + (u)[i][j + 1] - 4 * (u)[i][j]) -         \
   0.25 * ((u)[i + 1][j] - (u)[i - 1][j]) - 0.15 * ((u)[i][j + 1] - (u)[i][j - 1]))

static void rk4_middle(bench *b, int from, int to, double part)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(double, u, 0, 1);
  ARRAY2(double, sum, 1, 1);
  ARRAY2(double, t, from, 1);
  ARRAY2(double, next, to, 1);
  const double dt = 0.4;

  bench_wrap(b, from);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const double slope = SLOPE(t);

      sum[i][j] += dt / 3 * slope;
      next[i][j] = u[i][j] + part * dt * slope;
    }
}

static void rk4_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(double, u, 0, 1);
  ARRAY2(double, sum, 1, 1);
  ARRAY2(double, s, 2, 1);
  const double dt = 0.4;

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const double slope = SLOPE(u);

      sum[i][j] = u[i][j] + dt / 6 * slope;
      s[i][j] = u[i][j] + dt / 2 * slope;
    }
  rk4_middle(b, 2, 3, 0.5);
  rk4_middle(b, 3, 2, 1);
  bench_wrap(b, 2);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++)
      u[i][j] = sum[i][j] + dt / 6 * SLOPE(s);
}

/* ---- Navier-Stokes: predict, solve for the pressure by conjugate gradients, correct -------- */

static const char predict_rule[] =
    AMBIT_SOURCE(void predict(const float *u, const float *v, float *u2, float *v2) {
      *u2 = *u - 0.1f * (*u * 0.5f * (u[0][1] - u[0][-1]) + *v * 0.5f * (u[1][0] - u[-1][0])) +
            0.05f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
      *v2 = *v - 0.1f * (*u * 0.5f * (v[0][1] - v[0][-1]) + *v * 0.5f * (v[1][0] - v[-1][0])) +
            0.05f * (v[-1][0] + v[1][0] + v[0][-1] + v[0][1] - 4 * *v);
    });
static const char residual_rule[] = AMBIT_SOURCE(void residual(
    const float *u2, const float *v2, const float *p, float *r, float *d, sum double *rr) {
  const float a = 4.1f * *p - p[-1][0] - p[1][0] - p[0][-1] - p[0][1];

  *r = -0.5f * (u2[0][1] - u2[0][-1] + v2[1][0] - v2[-1][0]) - a;
  *d = *r;
  *rr = (double)*r * *r;
});
static const char multiply_rule[] =
    AMBIT_SOURCE(void multiply(const float *d, float *q, sum double *dq) {
      *q = 4.1f * *d - d[-1][0] - d[1][0] - d[0][-1] - d[0][1];
      *dq = (double)*d * *q;
    });
static const char alpha_rule[] =
    AMBIT_SOURCE(void alpha(double rr, double dq, double *a) { *a = rr / dq; });
static const char descend_rule[] = AMBIT_SOURCE(
    void descend(float *p, float *r, const float *d, const float *q, double a, sum double *next) {
      *p += (float)a * *d;
      *r -= (float)a * *q;
      *next = (double)*r * *r;
    });
static const char beta_rule[] =
    AMBIT_SOURCE(void beta(double *rr, double next, double *k, double first, double *left) {
      *k = next / *rr;
      *rr = next;
      *left = next / first;
    });
static const char direction_rule[] =
    AMBIT_SOURCE(void direction(float *d, const float *r, double k) { *d = *r + (float)k * *d; });
static const char keep_rule[] = AMBIT_SOURCE(void keep(double rr, double *first) { *first = rr; });
static const char correct_rule[] = AMBIT_SOURCE(
    void correct(const float *u2, const float *v2, const float *p, float *u, float *v) {
      *u = *u2 - 0.5f * (p[0][1] - p[0][-1]);
      *v = *v2 - 0.5f * (p[1][0] - p[-1][0]);
    });

enum { CG_MOST = 12 }; /* iterations of a solution; at large sizes the tolerance ends it earlier */

static void navier_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_smooth);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, bench_noise);
  ambit_field *u2 = bench_field(b, "u2", AMBIT_F32, 1, NULL);
  ambit_field *v2 = bench_field(b, "v2", AMBIT_F32, 1, NULL);
  ambit_field *p = bench_field(b, "p", AMBIT_F32, 1, NULL);
  ambit_field *r = bench_field(b, "r", AMBIT_F32, 1, NULL);
  ambit_field *d = bench_field(b, "d", AMBIT_F32, 1, NULL);
  ambit_field *q = bench_field(b, "q", AMBIT_F32, 1, NULL);
  ambit_field *read[] = {u, v, u2, v2, p, d};
  ambit_scalar *rr = ambit_scalar_create(b->context, "rr", AMBIT_F64);
  ambit_scalar *first = ambit_scalar_create(b->context, "first", AMBIT_F64);
  ambit_scalar *dq = ambit_scalar_create(b->context, "dq", AMBIT_F64);
  ambit_scalar *a = ambit_scalar_create(b->context, "a", AMBIT_F64);
  ambit_scalar *next = ambit_scalar_create(b->context, "next", AMBIT_F64);
  ambit_scalar *k = ambit_scalar_create(b->context, "k", AMBIT_F64);
  ambit_scalar *left = ambit_scalar_create(b->context, "left", AMBIT_F64);
  ambit_program *solver = b->called = ambit_program_create(b->grid);

  for (int i = 0; i < 6; i++)
    ambit_field_boundary(read[i], AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(solver, bench_kernel(b, multiply_rule), d, q, dq);
  ambit_apply(solver, bench_kernel(b, alpha_rule), rr, dq, a);
  ambit_apply(solver, bench_kernel(b, descend_rule), p, r, d, q, a, next);
  ambit_apply(solver, bench_kernel(b, beta_rule), rr, next, k, first, left);
  ambit_apply(solver, bench_kernel(b, direction_rule), d, r, k);
  ambit_apply(b->program, bench_kernel(b, predict_rule), u, v, u2, v2);
  ambit_apply(b->program, bench_kernel(b, residual_rule), u2, v2, p, r, d, rr);
  ambit_apply(b->program, bench_kernel(b, keep_rule), rr, first);
  ambit_call_until(b->program, solver, left, AMBIT_BELOW, 1e-6, CG_MOST);
  ambit_apply(b->program, bench_kernel(b, correct_rule), u2, v2, p, u, v);
}

static void conjugate_gradients(bench *b, double rr)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, p, 4, 1);
  ARRAY2(float, r, 5, 1);
  ARRAY2(float, d, 6, 1);
  ARRAY2(float, q, 7, 1);
  const double first = rr;

  for (int step = 0; step < CG_MOST && (step == 0 || rr / first >= 1e-6); step++) {
    double dq = 0, next = 0;

    bench_wrap(b, 6);
#pragma omp parallel for reduction(+ : dq)
    for (int64_t i = 1; i <= n; i++)
#pragma omp simd reduction(+ : dq)
      for (int64_t j = 1; j <= m; j++) {
        q[i][j] = 4.1f * d[i][j] - d[i - 1][j] - d[i + 1][j] - d[i][j - 1] - d[i][j + 1];
        dq += (double)d[i][j] * q[i][j];
      }
    const float a = (float)(rr / dq);
#pragma omp parallel for reduction(+ : next)
    for (int64_t i = 1; i <= n; i++)
#pragma omp simd reduction(+ : next)
      for (int64_t j = 1; j <= m; j++) {
        p[i][j] += a * d[i][j];
        r[i][j] -= a * q[i][j];
        next += (double)r[i][j] * r[i][j];
      }
    const float k = (float)(next / rr);
    rr = next;
#pragma omp parallel for
    for (int64_t i = 1; i <= n; i++)
#pragma omp simd
      for (int64_t j = 1; j <= m; j++)
        d[i][j] = r[i][j] + k * d[i][j];
  }
}

static void navier_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 1);
  ARRAY2(float, v, 1, 1);
  ARRAY2(float, u2, 2, 1);
  ARRAY2(float, v2, 3, 1);
  ARRAY2(float, p, 4, 1);
  ARRAY2(float, r, 5, 1);
  ARRAY2(float, d, 6, 1);
  double rr = 0;

  bench_wrap(b, 0);
  bench_wrap(b, 1);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const float x = u[i][j], y = v[i][j];

      u2[i][j] =
          x -
          0.1f * (x * 0.5f * (u[i][j + 1] - u[i][j - 1]) + y * 0.5f * (u[i + 1][j] - u[i - 1][j])) +
          0.05f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * x);
      v2[i][j] =
          y -
          0.1f * (x * 0.5f * (v[i][j + 1] - v[i][j - 1]) + y * 0.5f * (v[i + 1][j] - v[i - 1][j])) +
          0.05f * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1] - 4 * y);
    }
  bench_wrap(b, 2);
  bench_wrap(b, 3);
  bench_wrap(b, 4);
#pragma omp parallel for reduction(+ : rr)
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd reduction(+ : rr)
    for (int64_t j = 1; j <= m; j++) {
      const float a = 4.1f * p[i][j] - p[i - 1][j] - p[i + 1][j] - p[i][j - 1] - p[i][j + 1];
      const float x = -0.5f * (u2[i][j + 1] - u2[i][j - 1] + v2[i + 1][j] - v2[i - 1][j]) - a;

      r[i][j] = d[i][j] = x;
      rr += (double)x * x;
    }
  conjugate_gradients(b, rr);
  bench_wrap(b, 4);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      u[i][j] = u2[i][j] - 0.5f * (p[i][j + 1] - p[i][j - 1]);
      v[i][j] = v2[i][j] - 0.5f * (p[i + 1][j] - p[i - 1][j]);
    }
}

const bench_program bench_flows[] = {
    {"shallow_water", 2, {2400, 2400}, {45, 70}, 12, 3e-5, water_open, water_nest},
    {"upwind", 2, {3000, 3000}, {45, 70}, 16, 1e-5, upwind_open, upwind_nest},
    {"weno5", 2, {1500, 1500}, {45, 70}, 8, 1e-5, weno_open, weno_nest},
    {"runge_kutta4", 2, {2000, 2000}, {45, 70}, 8, 1e-12, rk4_open, rk4_nest},
    {"navier_stokes", 2, {1600, 1600}, {45, 70}, 3, 1e-4, navier_open, navier_nest},
    {.name = NULL}};
