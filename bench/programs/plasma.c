/* SPDX-License-Identifier: BSD-3-Clause */
/* plasma.c - magnetohydrodynamics: density, momentum, magnetic field, energy; HLL fluxes between
 * states that minmod limits. */
#include "driver.h"

static const char mhd_rule[] = AMBIT_SOURCE(
    static float minmod(float a, float b) { return a * b <= 0            ? 0
                                                   : fabsf(a) < fabsf(b) ? a
                                                                         : b; }

    static float pressure(float rho, float mm, float bb, float e) {
      return (5 / 3.0f - 1) * (e - 0.5f * mm / rho - 0.5f * bb);
    }

    static float fast(float rho, float p, float bb, float bn) {
      const float aa = 5 / 3.0f * p / rho;
      const float sum = aa + bb / rho;

      return sqrtf(0.5f * (sum + sqrtf(fmaxf(sum * sum - 4 * aa * bn * bn / rho, 0))));
    }

    void mhd(const float *q[8], float *r[8], float k) {
      float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};

      for (int axis = 0; axis < 2; axis++)
        for (int s = -1; s <= 0; s++) { // the face between cells s and s + 1
          float u[2][8];
          float f[2][8];
          float low = 0;
          float high = 0;

          for (int c = 0; c < 8; c++) {
            const int y = axis == 0;
            const int x = axis == 1;
            const float q0 = q[c][(s - 1) * y][(s - 1) * x];
            const float q1 = q[c][s * y][s * x];
            const float q2 = q[c][(s + 1) * y][(s + 1) * x];
            const float q3 = q[c][(s + 2) * y][(s + 2) * x];

            u[0][c] = q1 + 0.5f * minmod(q1 - q0, q2 - q1);
            u[1][c] = q2 - 0.5f * minmod(q2 - q1, q3 - q2);
          }
          for (int i = 0; i < 2; i++) {
            const float rho = u[i][0];
            const float mm = u[i][1] * u[i][1] + u[i][2] * u[i][2] + u[i][3] * u[i][3];
            const float bb = u[i][4] * u[i][4] + u[i][5] * u[i][5] + u[i][6] * u[i][6];
            const float mb = u[i][1] * u[i][4] + u[i][2] * u[i][5] + u[i][3] * u[i][6];
            const float p = pressure(rho, mm, bb, u[i][7]);
            const float vn = u[i][1 + axis] / rho;
            const float bn = u[i][4 + axis];
            const float speed = fast(rho, p, bb, bn);

            f[i][0] = u[i][1 + axis];
            for (int d = 0; d < 3; d++) {
              f[i][1 + d] = u[i][1 + d] * vn - bn * u[i][4 + d];
              f[i][4 + d] = u[i][4 + d] * vn - bn * u[i][1 + d] / rho;
            }
            f[i][1 + axis] += p + 0.5f * bb;
            f[i][7] = (u[i][7] + p + 0.5f * bb) * vn - bn * mb / rho;
            low = fminf(low, vn - speed);
            high = fmaxf(high, vn + speed);
          }
          for (int c = 0; c < 8; c++) {
            const float flux =
                (high * f[0][c] - low * f[1][c] + low * high * (u[1][c] - u[0][c])) / (high - low);

            sum[c] += s == 0 ? flux : -flux;
          }
        }
      for (int c = 0; c < 8; c++)
        *r[c] = *q[c] - k * sum[c];
    });

static double plasma(const int64_t *index, int component, void *user)
{
  const double x = bench_smooth(index, component, user);

  return component == 0 ? 1 + 0.2 * x : component == 7 ? 2 + 0.2 * x : 0.4 * (x - 0.5);
}

static void mhd_open(bench *b)
{
  ambit_field *q = bench_vector(b, "q", AMBIT_F32, 8, 2, plasma);
  ambit_field *r = bench_vector(b, "r", AMBIT_F32, 8, 2, NULL);

  ambit_field_boundary(q, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, mhd_rule), q, r, 0.1);
  ambit_swap(b->program, q, r);
}

static inline float minmod(float a, float b)
{
  return a * b <= 0 ? 0 : fabsf(a) < fabsf(b) ? a : b;
}

/* The flux f of the state u through a face; returns the normal velocity, and the fast speed. */
static inline float physical(const float *u, int axis, float *f, float *speed)
{
  const float rho = u[0], mm = u[1] * u[1] + u[2] * u[2] + u[3] * u[3];
  const float bb = u[4] * u[4] + u[5] * u[5] + u[6] * u[6];
  const float mb = u[1] * u[4] + u[2] * u[5] + u[3] * u[6];
  const float p = (5 / 3.0f - 1) * (u[7] - 0.5f * mm / rho - 0.5f * bb);
  const float vn = u[1 + axis] / rho, bn = u[4 + axis];
  const float aa = 5 / 3.0f * p / rho, both = aa + bb / rho;

  f[0] = u[1 + axis];
  for (int d = 0; d < 3; d++) {
    f[1 + d] = u[1 + d] * vn - bn * u[4 + d];
    f[4 + d] = u[4 + d] * vn - bn * u[1 + d] / rho;
  }
  f[1 + axis] += p + 0.5f * bb;
  f[7] = (u[7] + p + 0.5f * bb) * vn - bn * mb / rho;
  *speed = sqrtf(0.5f * (both + sqrtf(fmaxf(both * both - 4 * aa * bn * bn / rho, 0))));
  return vn;
}

/* Adds `sign` times the flux through the face behind cell q, along an axis with this stride. */
static inline void add_flux(const float *q, int64_t stride, int64_t component, int axis, float sign,
                            float *sum)
{
  float left[8], right[8], f[8], g[8], fast_left, fast_right;

  for (int c = 0; c < 8; c++) {
    const float *at = q + c * component;
    const float q0 = at[-stride], q1 = at[0], q2 = at[stride], q3 = at[2 * stride];

    left[c] = q1 + 0.5f * minmod(q1 - q0, q2 - q1);
    right[c] = q2 - 0.5f * minmod(q2 - q1, q3 - q2);
  }
  const float v = physical(left, axis, f, &fast_left), w = physical(right, axis, g, &fast_right);
  const float low = fminf(0, fminf(v - fast_left, w - fast_right));
  const float high = fmaxf(0, fmaxf(v + fast_left, w + fast_right));

  for (int c = 0; c < 8; c++)
    sum[c] += sign * (high * f[c] - low * g[c] + low * high * (right[c] - left[c])) / (high - low);
}

/* With `omp simd` gcc 12 keeps the sums of all lanes in memory and leaves the loop scalar. */
#ifdef __clang__
#  define VECTORISE _Pragma("omp simd")
#else
#  define VECTORISE _Pragma("GCC ivdep")
#endif

static void mhd_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1], pitch = m + 4, component = (n + 4) * pitch;
  const float *q = b->array[0];
  float *r = b->array[1];

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 2; i < n + 2; i++) {
    VECTORISE
    for (int64_t j = 2; j < m + 2; j++) {
      const int64_t at = i * pitch + j;
      float sum[8] = {0};

      add_flux(q + at, pitch, component, 0, 1, sum);
      add_flux(q + at - pitch, pitch, component, 0, -1, sum);
      add_flux(q + at, 1, component, 1, 1, sum);
      add_flux(q + at - 1, 1, component, 1, -1, sum);
      for (int c = 0; c < 8; c++)
        r[at + c * component] = q[at + c * component] - 0.1f * sum[c];
    }
  }
  bench_swap(b, 0, 1);
}

const bench_program bench_plasma[] = {
    {"mhd_hll", 2, {1000, 1000}, {25, 50}, 6, 1e-5, mhd_open, mhd_nest}, {.name = NULL}};
