/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid.h"

#include <math.h>

static int count = 3;
static double scale = 1;

void set_scale(double x)
{
  scale = x;
}

double flux(double a, double b)
{
  double d = a - b;

  if (d < 0) d = -d;
  return 0.5 * d;
}

#pragma ambit must
void step(grid *g, double k)
{
  int nx = g->nx;
  double *u = g->u, *v = g->v;

  for (int j = 1; j < g->ny - 1; j++)
    for (int i = 1; i < nx - 1; i++)
      v[j * nx + i] =
          u[j * nx + i] + k * scale *
                              (u[j * nx + i - 1] + u[j * nx + i + 1] + u[(j - 1) * nx + i] +
                               u[(j + 1) * nx + i] - 4 * u[j * nx + i]);
  for (int j = 1; j < g->ny - 1; j++)
    for (int i = 1; i < nx - 1; i++)
      table[j][i] = v[j * nx + i] * count;
}

void smooth(double *u, int n)
{
#pragma ambit must
  for (int i = 0; i < n - 1; i++)
    u[i] = 0.5 * (u[i] + u[i + 1]);
}

double largest(const grid *g)
{
  double m = 0;

#pragma ambit must
  for (int k = 0; k < g->nx * g->ny; k++)
    m = fmax(m, fabs(g->u[k]));
  return m + table[3][3];
}
