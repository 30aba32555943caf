/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointers to inner cells, one-cell loops, edges filled from far away, one index over all rows. */
#include "show.h"

#include <stdlib.h>

enum { N = 1200 };

static double tall[N + 2][6], wide[6][N + 2];

static void sweep(double *v, const double *u, int nx, int ny)
{
#pragma ambit must
  for (int j = 0; j < ny; j++)
    for (int i = 0; i < nx; i++)
      v[j * (nx + 2) + i] = u[j * (nx + 2) + i - 1] + u[(j - 1) * (nx + 2) + i] +
                            u[j * (nx + 2) + i + 1] + u[(j + 1) * (nx + 2) + i];
}

int main(void)
{
  int nx = 20, ny = 10, size, k;
  double *a, *b;

  size = (nx + 2) * (ny + 2);
  a = malloc(size * sizeof *a);
  b = calloc(size, sizeof *b);
  for (int i = 0; i < size; i++)
    a[i] = i % 11, b[i] = 1;
  for (int t = 0; t < 3; t++) {
    sweep(b + nx + 3, a + nx + 3, nx, ny);
#pragma ambit must
    for (k = 0; k < size; k++)
      a[k] = 0.25 * b[k];
#pragma ambit must
    for (int j = ny; j < ny + 1; j++)
      for (int i = 0; i < 1; i++)
        a[j * (nx + 2) + i] = b[j * (nx + 2) + i + 1];
  }
  for (int i = 0; i < N + 2; i++)
    for (int j = 0; j < 6; j++)
      tall[i][j] = i * j % 7, wide[j][i] = i % 5;
#pragma ambit must
  for (int t = 0; t < 3; t++) {
    for (int j = 0; j < 6; j++) {
      tall[0][j] = tall[N][j];
      tall[N + 1][j] = tall[1][j];
    }
    for (int j = 0; j < 6; j++) {
      wide[j][0] = wide[j][N];
      wide[j][N + 1] = wide[j][1];
    }
    for (int i = 1; i <= N; i++)
      for (int j = 1; j < 5; j++)
        tall[i][j] = 0.5 * tall[i + 1][j] + wide[j][i];
  }
  show("a", a, size * sizeof *a);
  show("b", b, size * sizeof *b);
  show("tall", tall, sizeof tall);
  show("wide", wide, sizeof wide);
  return 0;
}
