/* SPDX-License-Identifier: BSD-3-Clause */
/* transport.c - conservation laws in stages, winds of either sign, species that react. */
#include "driver.h"

static double both_signs(const int64_t *index, int component, void *user)
{
  return bench_smooth(index, component, user) - 0.5;
}

/* ---- Burgers, limited slopes, Rusanov fluxes, in three stages (SSP-RK3) ---------------------- */

static const char rk3_rule[] = AMBIT_SOURCE(
    static float slope(float a, float b) { return a * b > 0 ? 2 * a * b / (a + b) : 0; }

    static float face(float a, float b, float c, float d) {
      const float left = b + 0.5f * slope(b - a, c - b), right = c - 0.5f * slope(c - b, d - c);
      const float fastest = fmaxf(fabsf(left), fabsf(right));

      return 0.25f * (left * left + right * right) - 0.5f * fastest * (right - left);
    }

    void stage(const float *old, const float *u, float *next, float part, float dt) {
      const float change =
          face(u[-1][0], *u, u[1][0], u[2][0]) - face(u[-2][0], u[-1][0], *u, u[1][0]) +
          face(u[0][-1], *u, u[0][1], u[0][2]) - face(u[0][-2], u[0][-1], *u, u[0][1]);

      *next = (1 - part) * *old + part * (*u - dt * change);
    });

static void rk3_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 2, both_signs);
  ambit_field *s = bench_field(b, "s", AMBIT_F32, 2, NULL);
  ambit_field *t = bench_field(b, "t", AMBIT_F32, 2, NULL);
  ambit_kernel *stage = bench_kernel(b, rk3_rule);

  for (int i = 0; i < 3; i++)
    ambit_field_boundary(b->field[i], AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, stage, u, u, s, 1, 0.2);
  ambit_apply(b->program, stage, u, s, t, 0.25, 0.2);
  ambit_apply(b->program, stage, u, t, s, 2 / 3., 0.2);
  ambit_swap(b->program, u, s);
}

static inline float slope(float a, float b)
{
  return a * b > 0 ? 2 * a * b / (a + b) : 0;
}

static inline float face(float a, float b, float c, float d)
{
  const float left = b + 0.5f * slope(b - a, c - b), right = c - 0.5f * slope(c - b, d - c);

  return 0.25f * (left * left + right * right) -
         0.5f * fmaxf(fabsf(left), fabsf(right)) * (right - left);
}

static void rk3_stage(bench *b, int from, int to, float part)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, old, 0, 2);
  ARRAY2(float, u, from, 2);
  ARRAY2(float, next, to, 2);

  bench_wrap(b, from);
#pragma omp parallel for
  for (int64_t i = 2; i < n + 2; i++)
#pragma omp simd
    for (int64_t j = 2; j < m + 2; j++) {
      const float change = face(u[i - 1][j], u[i][j], u[i + 1][j], u[i + 2][j]) -
                           face(u[i - 2][j], u[i - 1][j], u[i][j], u[i + 1][j]) +
                           face(u[i][j - 1], u[i][j], u[i][j + 1], u[i][j + 2]) -
                           face(u[i][j - 2], u[i][j - 1], u[i][j], u[i][j + 1]);

      next[i][j] = (1 - part) * old[i][j] + part * (u[i][j] - 0.2f * change);
    }
}

static void rk3_nest(bench *b)
{
  rk3_stage(b, 0, 1, 1);
  rk3_stage(b, 1, 2, 0.25f);
  rk3_stage(b, 2, 1, 2 / 3.f);
  bench_swap(b, 0, 1);
}

/* ---- upwind differences of second order in three dimensions, winds of either sign ------------ */

static const char upwind3_rule[] = AMBIT_SOURCE(
    static float along(float w, float a, float b, float c, float d, float e) {
      return w > 0 ? w * (3 * c - 4 * b + a) : w * (4 * d - 3 * c - e);
    }

    void upwind(const float *q, const float *w[3], float *r) {
      *r = *q - 0.1f * (along(*w[0], q[-2][0][0], q[-1][0][0], *q, q[1][0][0], q[2][0][0]) +
                        along(*w[1], q[0][-2][0], q[0][-1][0], *q, q[0][1][0], q[0][2][0]) +
                        along(*w[2], q[0][0][-2], q[0][0][-1], *q, q[0][0][1], q[0][0][2]));
    });

static void upwind3_open(bench *b)
{
  ambit_field *q = bench_field(b, "q", AMBIT_F32, 2, bench_smooth);
  ambit_field *r = bench_field(b, "r", AMBIT_F32, 2, NULL);
  ambit_field *w = bench_vector(b, "w", AMBIT_F32, 3, 2, both_signs);

  ambit_field_boundary(q, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(b->program, bench_kernel(b, upwind3_rule), q, w, r);
  ambit_swap(b->program, q, r);
}

static inline float along(float w, float a, float b, float c, float d, float e)
{
  return w > 0 ? w * (3 * c - 4 * b + a) : w * (4 * d - 3 * c - e);
}

static void upwind3_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], l = b->extent[2];
  ARRAY3(float, q, 0, 2);
  ARRAY3(float, r, 1, 2);
  VECTOR3(float, w, 2, 2);

  bench_clamp(b, 0);
#pragma omp parallel for collapse(2)
  for (int64_t i = 2; i < n + 2; i++)
    for (int64_t j = 2; j < m + 2; j++)
#pragma omp simd
      for (int64_t k = 2; k < l + 2; k++)
        r[i][j][k] = q[i][j][k] - 0.1f * (along(w[0][i][j][k], q[i - 2][j][k], q[i - 1][j][k],
                                                q[i][j][k], q[i + 1][j][k], q[i + 2][j][k]) +
                                          along(w[1][i][j][k], q[i][j - 2][k], q[i][j - 1][k],
                                                q[i][j][k], q[i][j + 1][k], q[i][j + 2][k]) +
                                          along(w[2][i][j][k], q[i][j][k - 2], q[i][j][k - 1],
                                                q[i][j][k], q[i][j][k + 1], q[i][j][k + 2]));
  bench_swap(b, 0, 1);
}

/* ---- a tube of twelve species that diffuse and react, double --------------------------------- */

static const char chemistry_rule[] =
    AMBIT_SOURCE(void chemistry(const double *y[12], double *z[12], const double *t) {
      const double k[6] = {0.9, 0.7, 0.5, 0.4, 0.3, 0.2};
      const double e[6] = {1, 2, 3, 1.5, 2.5, 0.5};
      double made[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

      for (int i = 0; i < 6; i++) { // y[i] + y[11 - i] -> y[i + 1] + y[(i + 6) % 12], and back
        const double rate = k[i] * exp(-e[i] / *t);
        const double net = rate * *y[i] * *y[11 - i] - 0.1 * rate * *y[i + 1] * *y[(i + 7) % 12];

        made[i] -= net;
        made[11 - i] -= net;
        made[i + 1] += net;
        made[(i + 7) % 12] += net;
      }
      for (int i = 0; i < 12; i++)
        *z[i] = *y[i] + 0.02 * (1 + 0.1 * i) * (y[i][1] - 2 * *y[i] + y[i][-1]) -
                0.05 * (*y[i] - y[i][-1]) + 0.01 * made[i];
    });

static double warm(const int64_t *index, int component, void *user)
{
  return 1 + bench_smooth(index, component, user);
}

static void chemistry_open(bench *b)
{
  ambit_field *y = bench_vector(b, "y", AMBIT_F64, 12, 1, bench_noise);
  ambit_field *z = bench_vector(b, "z", AMBIT_F64, 12, 1, NULL);
  ambit_field *t = bench_field(b, "t", AMBIT_F64, 1, warm);

  ambit_field_boundary(y, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(b->program, bench_kernel(b, chemistry_rule), y, z, t);
  ambit_swap(b->program, y, z);
}

static void chemistry_nest(bench *b)
{
  const int64_t n = b->extent[0], row = n + 2;
  const double *y = b->array[0], *t = b->array[2];
  double *z = b->array[1];
  static const double k[6] = {0.9, 0.7, 0.5, 0.4, 0.3, 0.2}, e[6] = {1, 2, 3, 1.5, 2.5, 0.5};

  bench_clamp(b, 0);
#pragma omp parallel for simd
  for (int64_t x = 1; x <= n; x++) {
    double made[12] = {0};

#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
      const int to = i + 1, also = (i + 7) % 12;
      const double rate = k[i] * exp(-e[i] / t[x]);
      const double net = rate * (y[i * row + x] * y[(11 - i) * row + x] -
                                 0.1 * y[to * row + x] * y[also * row + x]);

      made[i] -= net;
      made[11 - i] -= net;
      made[to] += net;
      made[also] += net;
    }
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++) {
      const double *at = y + i * row + x;

      z[i * row + x] = at[0] + 0.02 * (1 + 0.1 * i) * (at[1] - 2 * at[0] + at[-1]) -
                       0.05 * (at[0] - at[-1]) + 0.01 * made[i];
    }
  }
  bench_swap(b, 0, 1);
}

/* ---- a semi-Lagrangian step: each row moves by an entry of a table --------------------------- */

enum { BANDS = 64 };

static const char advect_rule[] =
    AMBIT_SOURCE(void advect(const float *f, float *g, table float way[64]) {
      const float d = way[(int)(index(0) * 64 / extent(0))], whole = floorf(d), a = d - whole;
      float s = 0;

      for (int k = -3; k <= 3; k++)
        s += (k == whole ? 1 - a : k == whole + 1 ? a : 0) * f[0][k];
      *g = s;
    });

static float way(int64_t band)
{
  return 2.5f * sinf(0.1f * (float)band);
}

static void advect_open(bench *b)
{
  ambit_field *f = bench_field(b, "f", AMBIT_F32, 3, bench_noise);
  ambit_field *g = bench_field(b, "g", AMBIT_F32, 3, NULL);
  float ways[BANDS];

  for (int i = 0; i < BANDS; i++)
    ways[i] = way(i);
  ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, advect_rule), f, g,
              ambit_arg_table(ways, AMBIT_F32, 1, BANDS));
  ambit_swap(b->program, f, g);
}

static void advect_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, f, 0, 3);
  ARRAY2(float, g, 1, 3);

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 3; i < n + 3; i++) {
    const float d = way((i - 3) * BANDS / n), a = d - floorf(d);
    const int64_t k = (int64_t)floorf(d);

#pragma omp simd
    for (int64_t j = 3; j < m + 3; j++)
      g[i][j] = (1 - a) * f[i][j + k] + a * f[i][j + k + 1];
  }
  bench_swap(b, 0, 1);
}

/* ---- a recursive filter along rows, to the right and to the left ----------------------------- */

static const char filter_rule[] = AMBIT_SOURCE(
    void filter(const float *u, float *c, float *v) {
      *c = 0.7f * *c + 0.3f * *u;
      *v = *c;
    } void begin(float *c) { *c = 0; });

static void filter_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 0, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 0, NULL);
  ambit_field *c = ambit_field_create_on(b->grid, "c", AMBIT_F32, AMBIT_AXIS(0));
  ambit_kernel *k = bench_kernel(b, filter_rule), *begin = ambit_kernel_find(k, "begin");

  ambit_apply(b->program, begin, c);
  ambit_sweep(b->program, AMBIT_LOW(1), k, u, c, v);
  ambit_apply(b->program, begin, c);
  ambit_sweep(b->program, AMBIT_HIGH(1), k, v, c, u);
}

static void filter_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(float, u, 0, 0);
  ARRAY2(float, v, 1, 0);

#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
    float right = 0, left = 0;

    for (int64_t j = 0; j < m; j++)
      v[i][j] = right = 0.7f * right + 0.3f * u[i][j];
    for (int64_t j = m - 1; j >= 0; j--)
      u[i][j] = left = 0.7f * left + 0.3f * v[i][j];
  }
}

const bench_program bench_transport[] = {
    {"burgers_rk3", 2, {2400, 2400}, {45, 70}, 8, 1e-4, rk3_open, rk3_nest},
    {"upwind3d", 3, {200, 200, 200}, {17, 20, 35}, 12, 1e-5, upwind3_open, upwind3_nest},
    {"chemistry", 1, {1000000}, {3001}, 8, 1e-10, chemistry_open, chemistry_nest},
    {"semi_lagrange", 2, {3000, 3000}, {64, 70}, 12, 1e-5, advect_open, advect_nest},
    {"recursive", 2, {4000, 4000}, {33, 70}, 6, 1e-5, filter_open, filter_nest},
    {.name = NULL}};
