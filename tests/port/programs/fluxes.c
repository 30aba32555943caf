/* Fluxes through faces: arrays of other extents than those of the cells, each in a step with some
 * of the others. */
#include "show.h"

#include <stdlib.h>

static double upwind(double wind, double a, double b)
{
  return wind > 0 ? wind * a : wind * b;
}

int main(void)
{
  const int nx = 17, ny = 13;
  double(*q)[nx] = calloc(ny, sizeof *q), (*u)[nx + 1] = calloc(ny, sizeof *u);
  double(*v)[nx] = calloc(ny + 1, sizeof *v), (*fx)[nx + 1] = calloc(ny, sizeof *fx);
  double(*fy)[nx] = calloc(ny + 1, sizeof *fy);

#pragma ambit
  for (int j = 0; j < ny; j++)
    for (int i = 0; i <= nx; i++)
      u[j][i] = (i - 8) * 0.125;
#pragma ambit
  for (int j = 0; j <= ny; j++)
    for (int i = 0; i < nx; i++)
      v[j][i] = (6 - j) * 0.125;
#pragma ambit
  for (int j = 0; j < ny; j++)
    for (int i = 0; i < nx; i++)
      q[j][i] = (i * 7 + j * 3) % 11;
#pragma ambit
  for (int t = 0; t < 7; t++) {
    for (int j = 0; j < ny; j++)
      for (int i = 1; i < nx; i++)
        fx[j][i] = upwind(u[j][i], q[j][i - 1], q[j][i]);
    for (int j = 1; j < ny; j++)
      for (int i = 0; i < nx; i++)
        fy[j][i] = upwind(v[j][i], q[j - 1][i], q[j][i]);
    for (int j = 0; j < ny; j++)
      for (int i = 0; i < nx; i++)
        q[j][i] -= 0.25 * (fx[j][i + 1] - fx[j][i] + fy[j + 1][i] - fy[j][i]);
  }
  for (int j = 0; j < ny; j++)
    show("q", q[j], sizeof q[j]);
  show("fx", fx, ny * sizeof *fx);
  show("fy", fy, (ny + 1) * sizeof *fy);
  return 0;
}
