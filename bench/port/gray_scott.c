/* SPDX-License-Identifier: BSD-3-Clause */
/* Gray-Scott: two fields, flat arrays with an index macro, a periodic box by %. */
#include "clock.h"

#define N        800
#define AT(i, j) (((i) + N) % N * N + ((j) + N) % N)

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 60;
  const float du = 0.16f, dv = 0.08f, feed = 0.035f, kill = 0.065f;
  float *u = malloc(N * N * sizeof *u), *v = malloc(N * N * sizeof *v);
  float *u2 = malloc(N * N * sizeof *u), *v2 = malloc(N * N * sizeof *v), *swap;
  double sum = 0;

  for (int p = 0; p < N * N; p++) {
    const int seed = abs(p / N - N / 2) < 20 && abs(p % N - N / 2) < 20;

    u[p] = seed ? 0.5f : 1;
    v[p] = seed ? 0.25f : 0;
  }
  CLOCK_BEGIN
#pragma ambit
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        const float a = u[i * N + j], b = v[i * N + j], r = a * b * b;

        u2[i * N + j] =
            a +
            du * (u[AT(i - 1, j)] + u[AT(i + 1, j)] + u[AT(i, j - 1)] + u[AT(i, j + 1)] - 4 * a) -
            r + feed * (1 - a);
        v2[i * N + j] =
            b +
            dv * (v[AT(i - 1, j)] + v[AT(i + 1, j)] + v[AT(i, j - 1)] + v[AT(i, j + 1)] - 4 * b) +
            r - (feed + kill) * b;
      }
    swap = u;
    u = u2;
    u2 = swap;
    swap = v;
    v = v2;
    v2 = swap;
  }
  CLOCK_END
  for (int p = 0; p < N * N; p++)
    sum += v[p];
  CLOCK_PRINT(sum);
  return 0;
}
