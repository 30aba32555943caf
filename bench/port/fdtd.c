/* SPDX-License-Identifier: BSD-3-Clause */
/* FDTD in 2-D, as in PolyBench: a row that follows the time, then three fields. */
#include "clock.h"

#define N 1000
static double ex[N][N], ey[N][N], hz[N][N];

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 60;
  double sum = 0;

  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      ex[i][j] = (double)i * (j + 1) / N;
      ey[i][j] = (double)i * (j + 2) / N;
      hz[i][j] = (double)i * (j + 3) / N;
    }
  CLOCK_BEGIN
#pragma ambit
  for (int t = 0; t < steps; t++) {
    for (int j = 0; j < N; j++)
      ey[0][j] = t;
#pragma omp parallel for
    for (int i = 1; i < N; i++)
      for (int j = 0; j < N; j++)
        ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      for (int j = 1; j < N; j++)
        ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
#pragma omp parallel for
    for (int i = 0; i < N - 1; i++)
      for (int j = 0; j < N - 1; j++)
        hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
  CLOCK_END
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += hz[i][j];
  CLOCK_PRINT(sum);
  return 0;
}
