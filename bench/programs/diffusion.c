/* SPDX-License-Identifier: BSD-3-Clause */
/* diffusion.c - heat, written in several ways, and other operators on one field. */
#include "driver.h"

/* ---- the rule of README.md, with its reduction --------------------------------------------- */

static const char heat_rule[] =
    AMBIT_SOURCE(void heat(const float *u, float *v, float k, max float *change) {
      *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
      *change = fabsf(*v - *u);
    });

/* Cells above the first row are 100, in the ghost row of the nest's two arrays. */
static void heat_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_F32, 1, bench_noise);
  ambit_field *v = bench_field(b, "v", AMBIT_F32, 1, NULL);
  ambit_scalar *change = bench_scalar(b, "change", AMBIT_F32, 0);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_CONSTANT, 100);
  ambit_apply(b->program, bench_kernel(b, heat_rule), u, v, 0.24, change);
  ambit_swap(b->program, u, v);
  for (int64_t j = 1; j <= b->extent[1]; j++)
    ((float *)b->array[0])[j] = ((float *)b->array[1])[j] = 100;
}

static void heat_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  float(*u)[m + 2] = b->array[0], (*v)[m + 2] = b->array[1];
  const float k = 0.24f;
  float change = 0;

#pragma omp parallel for reduction(max : change)
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd reduction(max : change)
    for (int64_t j = 1; j <= m; j++) {
      v[i][j] = u[i][j] + k * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
      change = fmaxf(change, fabsf(v[i][j] - u[i][j]));
    }
  b->result[0] = change;
  bench_swap(b, 0, 1);
}

const bench_program bench_diffusion[] = {
    {"heat", 2, {4000, 4000}, {61, 70}, 32, 1e-5, heat_open, heat_nest}, {NULL}};
