/* SPDX-License-Identifier: BSD-3-Clause */
/* A star of radius 2 in 3-D, three time levels, a source in the time loop. */
#include "clock.h"

#define N           160
#define AT(i, j, k) (((i)*N + (j)) * N + (k))

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 40;
  float *p = calloc(N * N * N, sizeof *p), *q = calloc(N * N * N, sizeof *q);
  const float c0 = -7.5f, c1 = 4.0f / 3, c2 = -1.0f / 12, r = 0.1f;
  double sum = 0;

  CLOCK_BEGIN
#pragma ambit
  for (int t = 0; t < steps; t++) {
    float *swap;

#pragma omp parallel for
    for (int i = 2; i < N - 2; i++)
      for (int j = 2; j < N - 2; j++)
        for (int k = 2; k < N - 2; k++)
          q[AT(i, j, k)] =
              2 * p[AT(i, j, k)] - q[AT(i, j, k)] +
              r * (c0 * p[AT(i, j, k)] +
                   c1 * (p[AT(i - 1, j, k)] + p[AT(i + 1, j, k)] + p[AT(i, j - 1, k)] +
                         p[AT(i, j + 1, k)] + p[AT(i, j, k - 1)] + p[AT(i, j, k + 1)]) +
                   c2 * (p[AT(i - 2, j, k)] + p[AT(i + 2, j, k)] + p[AT(i, j - 2, k)] +
                         p[AT(i, j + 2, k)] + p[AT(i, j, k - 2)] + p[AT(i, j, k + 2)]));
    q[AT(N / 2, N / 2, N / 2)] += (float)sin(0.2 * t);
    swap = p;
    p = q;
    q = swap;
  }
  CLOCK_END
  for (int i = 0; i < N * N * N; i++)
    sum += fabs(p[i]);
  CLOCK_PRINT(sum);
  free(p);
  free(q);
  return 0;
}
