/* SPDX-License-Identifier: BSD-3-Clause */
/* integers.c - bytes and shorts: cellular automata and image filters. */
#include "driver.h"

/* ---- the Game of Life ---------------------------------------------------------------------- */

static const char life_rule[] = AMBIT_SOURCE(void life(const unsigned char *u, unsigned char *v) {
  int n = 0;

  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++)
      n += u[y][x];
  *v = n == 3 || (n == 4 && *u);
});

static double alive(const int64_t *index, int component, void *user)
{
  return bench_noise(index, component, user) < 0.3;
}

static void life_open(bench *b)
{
  ambit_field *u = bench_field(b, "u", AMBIT_U8, 1, alive);
  ambit_field *v = bench_field(b, "v", AMBIT_U8, 1, NULL);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(b->program, bench_kernel(b, life_rule), u, v);
  ambit_swap(b->program, u, v);
}

static void life_nest(bench *b)
{
  const int64_t n = b->extent[0], m = b->extent[1];
  unsigned char(*u)[m + 2] = b->array[0], (*v)[m + 2] = b->array[1];

  bench_wrap(b, 0);
#pragma omp parallel for
  for (int64_t i = 1; i <= n; i++)
#pragma omp simd
    for (int64_t j = 1; j <= m; j++) {
      int sum = 0;

      for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
          sum += u[i + y][j + x];
      v[i][j] = sum == 3 || (sum == 4 && u[i][j]);
    }
  bench_swap(b, 0, 1);
}

const bench_program bench_integers[] = {
    {"life", 2, {8000, 8000}, {61, 90}, 24, 0, life_open, life_nest}, {NULL}};
