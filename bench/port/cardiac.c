/* SPDX-License-Identifier: BSD-3-Clause */
/* Cardiac tissue (Aliev and Panfilov): rows behind pointers, no-flux edges, a reaction in place. */
#include "clock.h"

#define N 800

static double **array_create(void)
{
  double **rows = malloc((N + 2) * sizeof *rows), *cells = calloc((N + 2) * (N + 2), sizeof *cells);

  for (int i = 0; i < N + 2; i++)
    rows[i] = cells + i * (N + 2);
  return rows;
}

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 60;
  const double a = 0.1, b = 0.1, kk = 8.0, m1 = 0.07, m2 = 0.3, eps = 0.01, dt = 0.02, alpha = 0.1;
  double **e = array_create(), **old = array_create(), **r = array_create(), sum = 0;

  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++) {
      old[i][j] = j > N / 2;
      r[i][j] = i > N / 2;
    }
  CLOCK_BEGIN
#pragma ambit
  for (int t = 0; t < steps; t++) {
    double **swap;

    for (int j = 1; j <= N; j++) {
      old[0][j] = old[2][j];
      old[N + 1][j] = old[N - 1][j];
    }
    for (int i = 1; i <= N; i++) {
      old[i][0] = old[i][2];
      old[i][N + 1] = old[i][N - 1];
    }
#pragma omp parallel for
    for (int i = 1; i <= N; i++)
      for (int j = 1; j <= N; j++)
        e[i][j] = old[i][j] + alpha * (old[i][j + 1] + old[i][j - 1] - 4 * old[i][j] +
                                       old[i + 1][j] + old[i - 1][j]);
#pragma omp parallel for
    for (int i = 1; i <= N; i++)
      for (int j = 1; j <= N; j++)
        e[i][j] = e[i][j] - dt * (kk * e[i][j] * (e[i][j] - a) * (e[i][j] - 1) + e[i][j] * r[i][j]);
#pragma omp parallel for
    for (int i = 1; i <= N; i++)
      for (int j = 1; j <= N; j++)
        r[i][j] = r[i][j] + dt * (eps + m1 * r[i][j] / (e[i][j] + m2)) *
                                (-r[i][j] - kk * e[i][j] * (e[i][j] - b - 1));
    swap = e;
    e = old;
    old = swap;
  }
  CLOCK_END
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++)
      sum += old[i][j];
  CLOCK_PRINT(sum);
  return 0;
}
