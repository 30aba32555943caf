/* SPDX-License-Identifier: BSD-3-Clause */
/* Conditions on an integer that guard planes which are not always there: stages of a Runge-Kutta
 * method, levels in time. */
#include <stdlib.h>

#include "show.h"

#define NX 21
#define NY 18

static double u[NY][NX], k[4][NY][NX], sum[NY][NX];
static float w[3][NY * NX];
static const double a[4] = {0, 0.5, 0.5, 1};
static double factor[4] = {1, 2, 2, 1};

static double at(int s, int i, int j, double dt)
{
  return s == 0 ? u[i][j] : u[i][j] + a[s] * dt * k[s - 1][i][j];
}

static void stage(int s, double dt)
{
  for (int i = 1; i < NY - 1; i++)
    for (int j = 1; j < NX - 1; j++) {
      double c = u[i][j], e = u[i][j + 1], n = u[i - 1][j];

      if (s > 0) {
        c += a[s] * dt * k[s - 1][i][j];
        e += a[s] * dt * k[s - 1][i][j + 1];
        n += a[s] * dt * k[s - 1][i - 1][j];
      }
      k[s][i][j] = e + n - 2 * c;
    }
}

static void inlined(int stage, double dt)
{
  for (int i = 1; i < NY - 1; i++)
    for (int j = 1; j < NX - 1; j++)
      sum[i][j] += factor[stage] * (at(stage, i - 1, j, dt) - at(stage, i, j + 1, dt));
}

static void levels(int t)
{
  float *now = w[t % 3];

  for (int p = NX; p < NX * (NY - 1); p++) {
    float x = now[p - 1] + now[p + 1] + now[p - NX] + now[p + NX];

    if (t != 0)
      x -= 0.5f * w[(t + 2) % 3][p];
    else
      x *= 2;
    w[(t + 1) % 3][p] = 0.25f * x;
  }
}

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 9;

  for (int i = 0; i < NY; i++)
    for (int j = 0; j < NX; j++)
      u[i][j] = w[0][i * NX + j] = (i * 3 + j * 5) % 17 / 8.0;
#pragma ambit
  for (int t = 0; t < steps; t++) {
    for (int s = 0; s < 4; s++)
      stage(s, 0.1);
    for (int s = 0; s < 4; s++)
      inlined(s, 0.1);
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++)
        u[i][j] += 0.1 / 6 * (k[0][i][j] + 2 * k[1][i][j] + 2 * k[2][i][j] + k[3][i][j]);
    levels(t);
  }
  show("u", u, sizeof u);
  show("k", k, sizeof k);
  show("sum", sum, sizeof sum);
  show("w", w, sizeof w);
  return 0;
}
