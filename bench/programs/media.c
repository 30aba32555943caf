/* SPDX-License-Identifier: BSD-3-Clause */
/* media.c - absorbing layers, excitable media, interfaces, obstacles. */
#include "driver.h"

static double centred(const int64_t *index, int component, void *user)
{
  return bench_smooth(index, component, user) - 0.5;
}

/* ---- Maxwell in three dimensions; layers that absorb, by a profile along each axis ----------- */

static const char layers_rule[] = AMBIT_SOURCE(
    void magnetic(const float *e[3], float *h[3], const float *x, const float *y, const float *z) {
      *h[0] = *y * *z * *h[0] - 0.4f * (e[2][0][1][0] - *e[2] - e[1][0][0][1] + *e[1]);
      *h[1] = *z * *x * *h[1] - 0.4f * (e[0][0][0][1] - *e[0] - e[2][1][0][0] + *e[2]);
      *h[2] = *x * *y * *h[2] - 0.4f * (e[1][1][0][0] - *e[1] - e[0][0][1][0] + *e[0]);
    }

    void electric(float *e[3], const float *h[3], const float *x, const float *y, const float *z) {
      *e[0] = *y * *z * *e[0] + 0.4f * (*h[2] - h[2][0][-1][0] - *h[1] + h[1][0][0][-1]);
      *e[1] = *z * *x * *e[1] + 0.4f * (*h[0] - h[0][0][0][-1] - *h[2] + h[2][-1][0][0]);
      *e[2] = *x * *y * *e[2] + 0.4f * (*h[1] - h[1][-1][0][0] - *h[0] + h[0][0][-1][0]);
    });

enum { LAYER = 10, LONGEST = 1000 }; /* cells; of an axis */

/* 1 inside, less in the cells next to a face. */
static float kept(const bench *b, int axis, int64_t i)
{
  const int64_t far = b->extent[axis] - 1 - i, near = i < far ? i : far;

  return near >= LAYER ? 1 : 1 - 0.004f * (float)((LAYER - near) * (LAYER - near));
}

static double kept_x(const int64_t *index, int component, void *user)
{
  (void)component;
  return kept(user, 0, index[0]);
}

static double kept_y(const int64_t *index, int component, void *user)
{
  (void)component;
  return kept(user, 1, index[1]);
}

static double kept_z(const int64_t *index, int component, void *user)
{
  (void)component;
  return kept(user, 2, index[2]);
}

static void layers_open(bench *b)
{
  const ambit_fill_fn fill[3] = {kept_x, kept_y, kept_z};
  ambit_field *e = bench_vector(b, "e", AMBIT_F32, 3, 1, centred);
  ambit_field *h = bench_vector(b, "h", AMBIT_F32, 3, 1, centred);
  ambit_kernel *k = bench_kernel(b, layers_rule);
  ambit_field *p[3];

  for (int d = 0; d < 3; d++) {
    p[d] = ambit_field_create_on(b->grid, (const char *[]){"x", "y", "z"}[d], AMBIT_F32,
                                 AMBIT_AXIS(d));
    ambit_field_fill(p[d], fill[d], b);
  }
  ambit_field_boundary(e, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_boundary(h, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(b->program, k, e, h, p[0], p[1], p[2]);
  ambit_apply(b->program, ambit_kernel_find(k, "electric"), e, h, p[0], p[1], p[2]);
}

static void layers_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], l = b->extent[2];
  VECTOR3(float, e, 0, 1);
  VECTOR3(float, h, 1, 1);
  static float x[LONGEST], y[LONGEST], z[LONGEST];

  if (b->iteration == 0) {
    for (int64_t i = 0; i < n; i++)
      x[i + 1] = kept(b, 0, i);
    for (int64_t j = 0; j < m; j++)
      y[j + 1] = kept(b, 1, j);
    for (int64_t k = 0; k < l; k++)
      z[k + 1] = kept(b, 2, k);
  }
#pragma omp parallel for collapse(2)
  for (int64_t i = 1; i <= n; i++)
    for (int64_t j = 1; j <= m; j++)
#pragma omp simd
      for (int64_t k = 1; k <= l; k++) {
        h[0][i][j][k] = y[j] * z[k] * h[0][i][j][k] - 0.4f * (e[2][i][j + 1][k] - e[2][i][j][k] -
                                                              e[1][i][j][k + 1] + e[1][i][j][k]);
        h[1][i][j][k] = z[k] * x[i] * h[1][i][j][k] - 0.4f * (e[0][i][j][k + 1] - e[0][i][j][k] -
                                                              e[2][i + 1][j][k] + e[2][i][j][k]);
        h[2][i][j][k] = x[i] * y[j] * h[2][i][j][k] - 0.4f * (e[1][i + 1][j][k] - e[1][i][j][k] -
                                                              e[0][i][j + 1][k] + e[0][i][j][k]);
      }
#pragma omp parallel for collapse(2)
  for (int64_t i = 1; i <= n; i++)
    for (int64_t j = 1; j <= m; j++)
#pragma omp simd
      for (int64_t k = 1; k <= l; k++) {
        e[0][i][j][k] = y[j] * z[k] * e[0][i][j][k] + 0.4f * (h[2][i][j][k] - h[2][i][j - 1][k] -
                                                              h[1][i][j][k] + h[1][i][j][k - 1]);
        e[1][i][j][k] = z[k] * x[i] * e[1][i][j][k] + 0.4f * (h[0][i][j][k] - h[0][i][j][k - 1] -
                                                              h[2][i][j][k] + h[2][i - 1][j][k]);
        e[2][i][j][k] = x[i] * y[j] * e[2][i][j][k] + 0.4f * (h[1][i][j][k] - h[1][i - 1][j][k] -
                                                              h[0][i][j][k] + h[0][i][j - 1][k]);
      }
}

/* ---- an excitable medium of shorts; tables say which states excite, and what follows --------- */

static const char excitable_rule[] = AMBIT_SOURCE(
    void excite(const short *s, short *t, table short active[16], table short next[16]) {
      const int n = active[s[-1][-1]] + active[s[-1][0]] + active[s[-1][1]] + active[s[0][-1]] +
                    active[s[0][1]] + active[s[1][-1]] + active[s[1][0]] + active[s[1][1]];

      *t = *s == 0 && n < 3 ? 0 : next[*s];
    });

static const short active[16] = {0, 1, 1, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
static const short next[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0};

static double states(const int64_t *index, int component, void *user)
{
  return floor(15.999 * bench_noise(index, component, user));
}

static void excitable_open(bench *b)
{
  ambit_field *s = bench_field(b, "s", AMBIT_I16, 1, states);
  ambit_field *t = bench_field(b, "t", AMBIT_I16, 1, NULL);

  ambit_field_boundary(s, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, excitable_rule), s, t,
              ambit_arg_table(active, AMBIT_I16, 1, 16), ambit_arg_table(next, AMBIT_I16, 1, 16));
  ambit_swap(b->program, s, t);
}

static void excitable_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(short, s, 0, 1);
  ARRAY2(short, t, 1, 1);

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const int around = active[s[i - 1][j - 1]] + active[s[i - 1][j]] + active[s[i - 1][j + 1]] +
                         active[s[i][j - 1]] + active[s[i][j + 1]] + active[s[i + 1][j - 1]] +
                         active[s[i + 1][j]] + active[s[i + 1][j + 1]];

      t[i][j] = s[i][j] == 0 && around < 3 ? 0 : next[s[i][j]];
    }
  bench_swap(b, 0, 1);
}

/* ---- a phase field in three dimensions, with its greatest change ----------------------------- */

static const char phase_rule[] =
    AMBIT_SOURCE(void phase(const float *p, float *q, float drive, max float *change) {
      const float x = *p, g = x * (1 - x);
      const float lap =
          p[-1][0][0] + p[1][0][0] + p[0][-1][0] + p[0][1][0] + p[0][0][-1] + p[0][0][1] - 6 * x;
      const float rate = lap - 2 * g * (1 - 2 * x) + 30 * drive * g * g;

      *q = x + 0.1f * rate;
      *change = fabsf(rate);
    });

static void phase_open(bench *b)
{
  ambit_field *p = bench_field(b, "p", AMBIT_F32, 1, bench_smooth);
  ambit_field *q = bench_field(b, "q", AMBIT_F32, 1, NULL);
  ambit_scalar *change = bench_scalar(b, "change", AMBIT_F32, 0);

  ambit_field_boundary(p, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_apply(b->program, bench_kernel(b, phase_rule), p, q, 0.02, change);
  ambit_swap(b->program, p, q);
}

static void phase_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], l = b->extent[2];
  ARRAY3(float, p, 0, 1);
  ARRAY3(float, q, 1, 1);
  float change = 0;

  bench_clamp(b, 0);
#pragma omp parallel for collapse(2) reduction(max : change)
  for (int64_t i = 1; i <= n; i++)
    for (int64_t j = 1; j <= m; j++)
#pragma omp simd reduction(max : change)
      for (int64_t k = 1; k <= l; k++) {
        const float x = p[i][j][k], g = x * (1 - x);
        const float lap = p[i - 1][j][k] + p[i + 1][j][k] + p[i][j - 1][k] + p[i][j + 1][k] +
                          p[i][j][k - 1] + p[i][j][k + 1] - 6 * x;
        const float rate = lap - 2 * g * (1 - 2 * x) + 30 * 0.02f * g * g;

        q[i][j][k] = x + 0.1f * rate;
        change = fmaxf(change, fabsf(rate));
      }
  b->result[0] = change;
  bench_swap(b, 0, 1);
}

/* ---- Jacobi between obstacles: no flux into cells of a mask ---------------------------------- */

static const char obstacles_rule[] = AMBIT_SOURCE(
    void jacobi(const double *u, double *v, const double *f, const unsigned char *solid) {
      const double up = solid[-1][0] ? *u : u[-1][0], down = solid[1][0] ? *u : u[1][0];
      const double left = solid[0][-1] ? *u : u[0][-1], right = solid[0][1] ? *u : u[0][1];

      *v = *solid ? *u : 0.25 * (up + down + left + right - *f);
    });

static double solid(const int64_t *index, int component, void *user)
{
  return bench_noise(index, component + 3, user) < 0.2;
}

static void obstacles_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F64, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F64, 1, NULL);
  ambit_field *f = bench_field(b, "f", AMBIT_F64, 1, centred);
  ambit_field *mask = bench_field(b, "solid", AMBIT_U8, 1, solid);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_boundary(mask, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(b->program, bench_kernel(b, obstacles_rule), u, v, f, mask);
  ambit_swap(b->program, u, v);
}

static void obstacles_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  ARRAY2(double, u, 0, 1);
  ARRAY2(double, v, 1, 1);
  ARRAY2(double, f, 2, 1);
  ARRAY2(unsigned char, mask, 3, 1);

  bench_clamp(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      const double x = u[i][j], above = u[i - 1][j], below = u[i + 1][j]; /* loads without ifs */
      const double before = u[i][j - 1], after = u[i][j + 1], g = f[i][j];
      const double up = mask[i - 1][j] ? x : above, down = mask[i + 1][j] ? x : below;
      const double left = mask[i][j - 1] ? x : before, right = mask[i][j + 1] ? x : after;

      v[i][j] = mask[i][j] ? x : 0.25 * (up + down + left + right - g);
    }
  bench_swap(b, 0, 1);
}

const bench_program bench_media[] = {
    {"maxwell_layers", 3, {180, 180, 180}, {13, 14, 35}, 12, 1e-5, layers_open, layers_nest},
    {"excitable", 2, {4000, 4000}, {61, 90}, 16, 0, excitable_open, excitable_nest},
    {"phase_field", 3, {240, 240, 240}, {17, 20, 35}, 12, 1e-4, phase_open, phase_nest},
    {"obstacles", 2, {3000, 3000}, {45, 70}, 16, 1e-12, obstacles_open, obstacles_nest},
    {.name = NULL}};
