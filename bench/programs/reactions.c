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
  return 0.3 * bench_waves(index, component, user);
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
  float(*u)[m + 2] = b->array[0], (*v)[m + 2] = b->array[1];
  float(*u2)[m + 2] = b->array[2], (*v2)[m + 2] = b->array[3];
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

const bench_program bench_reactions[] = {
    {"gray_scott", 2, {3000, 3000}, {45, 70}, 24, 1e-5, gray_scott_open, gray_scott_nest}, {NULL}};
