/* SPDX-License-Identifier: BSD-3-Clause */
/* The Himeno benchmark: a 19-point operator with coefficients, a residual summed in any order. */
#include "clock.h"

#define NI 96
#define NJ 96
#define NK 192
static float p[NI][NJ][NK], wrk1[NI][NJ][NK], wrk2[NI][NJ][NK], bnd[NI][NJ][NK];
static float a[4][NI][NJ][NK], b[3][NI][NJ][NK], c[3][NI][NJ][NK];

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 40;
  const float omega = 0.8f;
  float gosa = 0;
  double sum = 0;

  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++)
      for (int k = 0; k < NK; k++) {
        a[0][i][j][k] = a[1][i][j][k] = a[2][i][j][k] = 1;
        a[3][i][j][k] = 1.0f / 6;
        b[0][i][j][k] = b[1][i][j][k] = b[2][i][j][k] = wrk1[i][j][k] = wrk2[i][j][k] = 0;
        c[0][i][j][k] = c[1][i][j][k] = c[2][i][j][k] = 1;
        p[i][j][k] = (float)(i * i) / ((NI - 1) * (NI - 1));
        bnd[i][j][k] = 1;
      }
  CLOCK_BEGIN
#pragma ambit sum(any)
  for (int t = 0; t < steps; t++) {
    gosa = 0;
#pragma omp parallel for reduction(+ : gosa)
    for (int i = 1; i < NI - 1; i++)
      for (int j = 1; j < NJ - 1; j++)
        for (int k = 1; k < NK - 1; k++) {
          const float s0 = a[0][i][j][k] * p[i + 1][j][k] + a[1][i][j][k] * p[i][j + 1][k] +
                           a[2][i][j][k] * p[i][j][k + 1] +
                           b[0][i][j][k] * (p[i + 1][j + 1][k] - p[i + 1][j - 1][k] -
                                            p[i - 1][j + 1][k] + p[i - 1][j - 1][k]) +
                           b[1][i][j][k] * (p[i][j + 1][k + 1] - p[i][j - 1][k + 1] -
                                            p[i][j + 1][k - 1] + p[i][j - 1][k - 1]) +
                           b[2][i][j][k] * (p[i + 1][j][k + 1] - p[i - 1][j][k + 1] -
                                            p[i + 1][j][k - 1] + p[i - 1][j][k - 1]) +
                           c[0][i][j][k] * p[i - 1][j][k] + c[1][i][j][k] * p[i][j - 1][k] +
                           c[2][i][j][k] * p[i][j][k - 1] + wrk1[i][j][k];
          const float ss = (s0 * a[3][i][j][k] - p[i][j][k]) * bnd[i][j][k];

          gosa += ss * ss;
          wrk2[i][j][k] = p[i][j][k] + omega * ss;
        }
#pragma omp parallel for
    for (int i = 1; i < NI - 1; i++)
      for (int j = 1; j < NJ - 1; j++)
        for (int k = 1; k < NK - 1; k++)
          p[i][j][k] = wrk2[i][j][k];
  }
  CLOCK_END
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++)
      for (int k = 0; k < NK; k++)
        sum += p[i][j][k];
  CLOCK_PRINT(sum);
  return gosa < 0;
}
