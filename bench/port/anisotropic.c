/* SPDX-License-Identifier: BSD-3-Clause */
/* Anisotropic diffusion of a picture (Perona and Malik), clamped indices, a function per flux. */
#include "clock.h"

#define N 1000
static float u[N][N], v[N][N];

static float flux(float d)
{
  return d / (1 + d * d * 100);
}

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 40;
  double sum = 0;

  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      u[i][j] = (float)((i * 37 + j * 91) % 256) / 255 + (i > N / 2);
  CLOCK_BEGIN
#pragma ambit
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        const int n = i > 0 ? i - 1 : 0, s = i < N - 1 ? i + 1 : N - 1;
        const int w = j > 0 ? j - 1 : 0, e = j < N - 1 ? j + 1 : N - 1;
        const float c = u[i][j];

        v[i][j] = c + 0.2f * (flux(u[n][j] - c) + flux(u[s][j] - c) + flux(u[i][w] - c) +
                              flux(u[i][e] - c));
      }
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        u[i][j] = v[i][j];
  }
  CLOCK_END
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += u[i][j] * ((i + j) % 5);
  CLOCK_PRINT(sum);
  return 0;
}
