/* SPDX-License-Identifier: BSD-3-Clause */
/* A 7-point Jacobi iteration in double, flat arrays. */
#include "clock.h"

#define N 160

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 40;
  double *u = calloc(N * N * N, sizeof *u), *v = calloc(N * N * N, sizeof *v), *swap, sum = 0;

  for (int i = 0; i < N * N * N; i++)
    u[i] = v[i] = i % 13;
  CLOCK_BEGIN
#pragma ambit
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for
    for (int k = 1; k < N - 1; k++)
      for (int j = 1; j < N - 1; j++)
        for (int i = 1; i < N - 1; i++) {
          const int p = (k * N + j) * N + i;

          v[p] = 0.4 * u[p] +
                 0.1 * (u[p - 1] + u[p + 1] + u[p - N] + u[p + N] + u[p - N * N] + u[p + N * N]);
        }
    swap = u;
    u = v;
    v = swap;
  }
  CLOCK_END
  for (int i = 0; i < N * N * N; i++)
    sum += u[i] * (i % 11);
  CLOCK_PRINT(sum);
  return 0;
}
