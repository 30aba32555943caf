/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of two files: arrays here, nests in kernels.c; both have a static `count`. */
#include "grid.h"

#include <stdio.h>
#include <stdlib.h>

static int count;
double table[NY][NX];

static void swap(grid *g)
{
  double *w = g->u;

  g->u = g->v;
  g->v = w;
}

/* A function behind a pointer has steps, and host code reads between its calls. */
static double repeat(void (*apply)(double *u, int n), double *u, int n)
{
  double s = 0;

  for (int i = 0; i < 3; i++) {
    apply(u, n);
    s += u[n / 2] + u[1];
    u[0] += s;
  }
  return s;
}

int main(void)
{
  grid g = {NX, NY, malloc(NX * NY * sizeof(double)), calloc(NX * NY, sizeof(double))};
  double s = 0;

  for (int k = 0; k < NX * NY; k++)
    g.u[k] = g.v[k] = k % 13;
  set_scale(0.5);
#pragma ambit
  for (int t = 0; t < 10; t++) {
    step(&g, 0.1);
    swap(&g);
    if (t == 4) {
      g.u[NX + 3] += largest(&g);
      count++;
    }
  }
#pragma ambit
  for (int j = 0; j < NY; j++)
    for (int i = 0; i < NX; i++)
      table[j][i] += flux(g.u[j * NX + i], table[j][i]);
  for (int n = 90; n > 5; n /= 2) { /* memory that is freed, and used again for less */
    double *u = malloc((size_t)n * sizeof *u);

    for (int i = 0; i < n; i++)
      u[i] = i % 7 + n;
    s += repeat(smooth, u, n);
    free(u);
  }
  for (int k = 0; k < NX * NY; k++)
    s += g.u[k] * (k % 5) + table[k / NX][k % NX];
  printf("%.17g %.17g %d\n", s, largest(&g), count);
  return 0;
}
