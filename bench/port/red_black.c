/* SPDX-License-Identifier: BSD-3-Clause */
/* Red-black relaxation of a Poisson equation, in place, two nests with steps of 2. */
#include "clock.h"

#define N 1200
static double u[N][N], f[N][N];

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 60;
  double sum = 0;

  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      f[i][j] = (i + 2 * j) % 7 - 3;
  CLOCK_BEGIN
#pragma ambit
  for (int t = 0; t < steps; t++)
    for (int c = 0; c < 2; c++)
#pragma omp parallel for
      for (int i = 1; i < N - 1; i++)
        for (int j = 1 + (i + c) % 2; j < N - 1; j += 2)
          u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
  CLOCK_END
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += u[i][j] * ((i + j) % 5);
  CLOCK_PRINT(sum);
  return 0;
}
