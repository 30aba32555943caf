/* SPDX-License-Identifier: BSD-3-Clause */
/* Shallow water on a C-grid: three nests per step, walls by edge fills, a time step from the
 * highest speed of all cells. */
#include "clock.h"

#define N 1000
static float h[N + 2][N + 2], u[N + 2][N + 2], v[N + 2][N + 2];
static float un[N + 2][N + 2], vn[N + 2][N + 2], hn[N + 2][N + 2];

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
  const float g = 9.81f, dx = 1.0f;
  double sum = 0;

  for (int i = 0; i < N + 2; i++)
    for (int j = 0; j < N + 2; j++)
      h[i][j] = 10 + ((i - N / 2) * (i - N / 2) + (j - N / 2) * (j - N / 2) < N * N / 64);
  CLOCK_BEGIN
#pragma ambit
  for (int t = 0; t < steps; t++) {
    float top = 0, dt;

#pragma omp parallel for reduction(max : top)
    for (int i = 1; i <= N; i++)
      for (int j = 1; j <= N; j++)
        top = fmaxf(top, fabsf(u[i][j]) + sqrtf(g * h[i][j]));
    dt = 0.3f * dx / top;
#pragma omp parallel for
    for (int i = 1; i <= N; i++)
      for (int j = 1; j <= N; j++) {
        un[i][j] = u[i][j] - dt / dx * g * (h[i][j + 1] - h[i][j]);
        vn[i][j] = v[i][j] - dt / dx * g * (h[i + 1][j] - h[i][j]);
      }
    for (int i = 1; i <= N; i++) {
      un[i][0] = 0;
      un[i][N] = 0;
    }
    for (int j = 1; j <= N; j++) {
      vn[0][j] = 0;
      vn[N][j] = 0;
    }
#pragma omp parallel for
    for (int i = 1; i <= N; i++)
      for (int j = 1; j <= N; j++)
        hn[i][j] = h[i][j] - dt / dx *
                                 (un[i][j] * 0.5f * (h[i][j] + h[i][j + 1]) -
                                  un[i][j - 1] * 0.5f * (h[i][j - 1] + h[i][j]) +
                                  vn[i][j] * 0.5f * (h[i][j] + h[i + 1][j]) -
                                  vn[i - 1][j] * 0.5f * (h[i - 1][j] + h[i][j]));
#pragma omp parallel for
    for (int i = 1; i <= N; i++)
      for (int j = 1; j <= N; j++) {
        h[i][j] = hn[i][j];
        u[i][j] = un[i][j];
        v[i][j] = vn[i][j];
      }
    for (int i = 1; i <= N; i++) {
      h[i][0] = h[i][1];
      h[i][N + 1] = h[i][N];
    }
    for (int j = 1; j <= N; j++) {
      h[0][j] = h[1][j];
      h[N + 1][j] = h[N][j];
    }
  }
  CLOCK_END
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++)
      sum += h[i][j] * ((i * 31 + j * 17) % 100);
  CLOCK_PRINT(sum);
  return 0;
}
