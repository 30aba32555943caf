/* SPDX-License-Identifier: BSD-3-Clause */
/* Ghost cells that the program fills itself: periodic ones of one and two layers, copies of the
 * nearest cells, and in each step both, so that the first round is as all others. */
#include <stdlib.h>

#include "show.h"

#define NX 34
#define NY 29
#define M  10

static double u[NY][NX], v[NY][NX];
static float a[M][M + 3][M + 4], b[M][M + 3][M + 4];

static void wrap(double x[NY][NX])
{
  for (int j = 1; j < NX - 1; j++) {
    x[0][j] = x[NY - 2][j];
    x[NY - 1][j] = x[1][j];
  }
  for (int i = 0; i < NY; i++) {
    x[i][0] = x[i][NX - 2];
    x[i][NX - 1] = x[i][1];
  }
}

static void wrap_two(float x[M][M + 3][M + 4])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M + 3; j++)
      for (int g = 0; g < 2; g++) {
        x[i][j][g] = x[i][j][M + g];
        x[i][j][M + 2 + g] = x[i][j][2 + g];
      }
  for (int i = 0; i < M; i++)
    for (int k = 0; k < M + 4; k++) {
      x[i][0][k] = x[i][1][k];
      x[i][M + 2][k] = 2 * x[i][M + 1][k] - x[i][M][k];
    }
}

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 23;

  for (int i = 0; i < NY; i++)
    for (int j = 0; j < NX; j++)
      u[i][j] = (i * 7 + j * 13) % 31 / 16.0;
  for (int i = 0; i < M * (M + 3) * (M + 4); i++)
    a[0][0][i] = (float)(i * 5 % 23);
#pragma ambit
  for (int t = 0; t < steps; t++) {
    wrap(u);
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++)
        v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 3.5 * u[i][j];
    wrap(v);
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++)
        u[i][j] -= 0.05 * (v[i - 1][j - 1] + v[i + 1][j + 1] - v[i][j]);
    wrap_two(a);
    for (int i = 1; i < M - 1; i++)
      for (int j = 1; j < M + 2; j++)
        for (int k = 2; k < M + 2; k++)
          b[i][j][k] =
              0.25f * (a[i - 1][j][k - 2] + a[i + 1][j][k + 2] + a[i][j - 1][k] + a[i][j + 1][k]);
    for (int i = 1; i < M - 1; i++)
      for (int j = 1; j < M + 2; j++)
        for (int k = 2; k < M + 2; k++)
          a[i][j][k] = b[i][j][k];
  }
  show("u", u, sizeof u);
  show("v", v, sizeof v);
  show("a", a, sizeof a);
  show("b", b, sizeof b);
  return 0;
}
