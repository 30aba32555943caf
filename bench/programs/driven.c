/* SPDX-License-Identifier: BSD-3-Clause */
/* driven.c - programs with small steps beside their sweeps (a boundary that follows the time, a
 * source, a history), and kinds that the other files do not have. */
#include "driver.h"

/* ---- heat whose boundary follows the time ---------------------------------------------------- */

static const char driven_rule[] = AMBIT_SOURCE(
    void heat(const float *u, float *v) {
      *v = *u + 0.2f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
    }

    void pace(float *edge) { *edge = sinf(0.05f * (float)step()); });

static void driven_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, NULL);
  ambit_scalar *edge = bench_scalar(b, "edge", AMBIT_F32, 0);
  ambit_kernel *k = bench_kernel(b, driven_rule);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_DIRICHLET, edge);
  ambit_apply(b->program, ambit_kernel_find(k, "pace"), edge);
  ambit_apply(b->program, k, u, v);
  ambit_swap(b->program, u, v);
}

static void driven_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 1);
  ARRAY2(float, v, 1, 1);
  const float edge = sinf(0.05f * (float)b->iteration);

  bench_clamp(b, 0);
  for (int64_t j = 1; j <= m; j++) /* on the face, between two cells */
    u[0][j] = 2 * edge - u[1][j];
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++)
      v[i][j] =
          u[i][j] + 0.2f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
  b->result[0] = edge;
  bench_swap(b, 0, 1);
}

/* ---- a wave with a source, and the maximum every 8 iterations -------------------------------- */

static const char pulse_rule[] = AMBIT_SOURCE(
    void wave(const float *u, float *past) {
      *past = 2 * *u - *past + 0.2f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
    }

    void pulse(float *s) {
      const float t = 0.02f * (float)step() - 1;

      *s = (1 - 2 * t * t) * expf(-t * t);
    }

    void push(float *u, float s) { *u += s; }

    void height(const float *u, max float *top) { *top = fabsf(*u); });

static void pulse_open(bench *b)
{
  const int64_t lo[] = {b->extent[0] / 2, b->extent[1] / 2}, hi[] = {lo[0] + 1, lo[1] + 1};
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_smooth);
  ambit_field *past = bench_field(b, "past", AMBIT_F32, 1, bench_smooth);
  ambit_scalar *s = bench_scalar(b, "s", AMBIT_F32, 0);
  ambit_scalar *top = bench_scalar(b, "top", AMBIT_F32, 0);
  ambit_kernel *k = bench_kernel(b, pulse_rule);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_boundary(past, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(b->program, ambit_kernel_find(k, "pulse"), s);
  ambit_apply(b->program, k, u, past);
  ambit_apply_box(b->program, lo, hi, ambit_kernel_find(k, "push"), past, s);
  ambit_swap(b->program, u, past);
  ambit_apply(b->program, ambit_kernel_find(k, "height"), u, top);
  ambit_step_every(b->program, 8);
}

static void pulse_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 1);
  ARRAY2(float, past, 1, 1);
  const float t = 0.02f * (float)b->iteration - 1, s = (1 - 2 * t * t) * expf(-t * t);
  float top = 0;

#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++)
      past[i][j] = 2 * u[i][j] - past[i][j] +
                   0.2f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
  past[n / 2 + 1][m / 2 + 1] += s;
  b->result[0] = s;
  bench_swap(b, 0, 1);
  if ((b->iteration + 1) % 8) return;
#pragma omp parallel for reduction(max : top)
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd reduction(max : top)
    for (int64_t j = 1; j <= m; j++)
      top = fmaxf(top, fabsf(past[i][j]));
  b->result[1] = top;
}

/* ---- Perona-Malik: diffusion that stops at edges --------------------------------------------- */

static const char perona_malik_rule[] = AMBIT_SOURCE(
    static float flux(float d) { return d / (1 + 4 * d * d); }

    void perona_malik(const float *u, float *v) {
      *v = *u + 0.2f * (flux(u[-1][0] - *u) + flux(u[1][0] - *u) + flux(u[0][-1] - *u) +
                        flux(u[0][1] - *u));
    });

static void perona_malik_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(b->program, bench_kernel(b, perona_malik_rule), u, v);
  ambit_swap(b->program, u, v);
}

static inline float flux(float d)
{
  return d / (1 + 4 * d * d);
}

static void perona_malik_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 1);
  ARRAY2(float, v, 1, 1);

  bench_clamp(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++)
      v[i][j] = u[i][j] + 0.2f * (flux(u[i - 1][j] - u[i][j]) + flux(u[i + 1][j] - u[i][j]) +
                                  flux(u[i][j - 1] - u[i][j]) + flux(u[i][j + 1] - u[i][j]));
  bench_swap(b, 0, 1);
}

/* ---- Burgers' equations, upwind by conditions ------------------------------------------------ */

static const char burgers_rule[] =
    AMBIT_SOURCE(void burgers(const float *u, const float *v, float *u2, float *v2) {
      const float ux = *u > 0 ? *u - u[-1][0] : u[1][0] - *u;
      const float uy = *v > 0 ? *u - u[0][-1] : u[0][1] - *u;
      const float vx = *u > 0 ? *v - v[-1][0] : v[1][0] - *v;
      const float vy = *v > 0 ? *v - v[0][-1] : v[0][1] - *v;

      *u2 = *u - 0.1f * (*u * ux + *v * uy) +
            0.05f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
      *v2 = *v - 0.1f * (*u * vx + *v * vy) +
            0.05f * (v[-1][0] + v[1][0] + v[0][-1] + v[0][1] - 4 * *v);
    });

static double both_signs(const int64_t *index, int component, void *user)
{
  return bench_noise(index, component, user) - 0.5;
}

static void burgers_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, both_signs);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, both_signs);
  ambit_field *u2 = bench_field(b, "u2", AMBIT_F32, 1, NULL);
  ambit_field *v2 = bench_field(b, "v2", AMBIT_F32, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_boundary(v, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, burgers_rule), u, v, u2, v2);
  ambit_swap(b->program, u, u2);
  ambit_swap(b->program, v, v2);
}

static void burgers_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 1);
  ARRAY2(float, v, 1, 1);
  ARRAY2(float, u2, 2, 1);
  ARRAY2(float, v2, 3, 1);

  bench_wrap(b, 0);
  bench_wrap(b, 1);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const float p = u[i][j], q = v[i][j];
      const float ux = p > 0 ? p - u[i - 1][j] : u[i + 1][j] - p;
      const float uy = q > 0 ? p - u[i][j - 1] : u[i][j + 1] - p;
      const float vx = p > 0 ? q - v[i - 1][j] : v[i + 1][j] - q;
      const float vy = q > 0 ? q - v[i][j - 1] : v[i][j + 1] - q;

      u2[i][j] = p - 0.1f * (p * ux + q * uy) +
                 0.05f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * p);
      v2[i][j] = q - 0.1f * (p * vx + q * vy) +
                 0.05f * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1] - 4 * q);
    }
  bench_swap(b, 0, 2);
  bench_swap(b, 1, 3);
}

/* ---- Kuramoto-Sivashinsky on a line, double -------------------------------------------------- */

static const char kuramoto_rule[] = AMBIT_SOURCE(void kuramoto(const double *u, double *v) {
  const double first = 0.5 * (u[1] - u[-1]), second = u[1] - 2 * *u + u[-1];
  const double fourth = u[2] - 4 * u[1] + 6 * *u - 4 * u[-1] + u[-2];

  *v = *u - 0.01 * (*u * first + second + fourth);
});

static void kuramoto_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F64, 2, bench_smooth);
  ambit_field *v = bench_field(b, "v", AMBIT_F64, 2, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, kuramoto_rule), u, v);
  ambit_swap(b->program, u, v);
}

static void kuramoto_nest(bench *b)
{
  const int64_t n = b->extent[0];
  const double *u = b->array[0];
  double *v = b->array[1];

  bench_wrap(b, 0);
#pragma omp parallel for simd
  for (int64_t i = 2; i < n + 2; i++) {
    const double first = 0.5 * (u[i + 1] - u[i - 1]), second = u[i + 1] - 2 * u[i] + u[i - 1];
    const double fourth = u[i + 2] - 4 * u[i + 1] + 6 * u[i] - 4 * u[i - 1] + u[i - 2];

    v[i] = u[i] - 0.01 * (u[i] * first + second + fourth);
  }
  bench_swap(b, 0, 1);
}

/* ---- fields of three types: heat in materials by number, with energy in double --------------- */

static const char materials_rule[] =
    AMBIT_SOURCE(void materials(const int *kind, const float *u, float *v, double *energy) {
      const float k = *kind == 0 ? 0.05f : *kind == 1 ? 0.1f : 0.2f;

      *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
      *energy += (double)(*v - *u);
    });

static double three(const int64_t *index, int component, void *user)
{
  return floor(2.999 * bench_noise(index, component, user));
}

static void materials_open(bench *b)
{
  ambit_field *kind = bench_field(b, "kind", AMBIT_I32, 1, three);
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, NULL);
  ambit_field *energy = bench_field(b, "energy", AMBIT_F64, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(b->program, bench_kernel(b, materials_rule), kind, u, v, energy);
  ambit_swap(b->program, u, v);
}

static void materials_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(int, kind, 0, 1);
  ARRAY2(float, u, 1, 1);
  ARRAY2(float, v, 2, 1);
  ARRAY2(double, energy, 3, 1);

  bench_clamp(b, 1);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const float k = kind[i][j] == 0 ? 0.05f : kind[i][j] == 1 ? 0.1f : 0.2f;

      v[i][j] = u[i][j] + k * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
      energy[i][j] += (double)(v[i][j] - u[i][j]);
    }
  bench_swap(b, 1, 2);
}

const bench_program bench_driven[] = {
    {"driven_heat", 2, {4000, 4000}, {33, 70}, 32, 1e-5, driven_open, driven_nest},
    {"pulse", 2, {4000, 4000}, {33, 70}, 32, 1e-4, pulse_open, pulse_nest},
    {"perona_malik", 2, {3000, 3000}, {33, 70}, 16, 1e-5, perona_malik_open, perona_malik_nest},
    {"burgers", 2, {3000, 3000}, {33, 70}, 16, 1e-5, burgers_open, burgers_nest},
    {"kuramoto", 1, {8000000}, {1000}, 16, 1e-10, kuramoto_open, kuramoto_nest},
    {"materials", 2, {2000, 2000}, {33, 70}, 16, 1e-5, materials_open, materials_nest},
    {0}};
