/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over all cells of arrays that other functions see as rows and planes: the arrays keep their
 * grid. Some loops do not go over whole rows, or use the number of the cell. */
#include <math.h>
#include <stdlib.h>

#include "show.h"

#define NX 19
#define NY 14
#define N  (NX * NY)

static double *c, *d, total, least, last;
static float box[5][6][7];
static int marks[N];

static void spread(const double *from, double *to, int nx, int ny)
{
  for (int j = 1; j < ny - 1; j++)
    for (int i = 1; i < nx - 1; i++) {
      const int p = j * nx + i;

      to[p] =
          from[p] + 0.125 * (from[p - 1] + from[p + 1] + from[p - nx] + from[p + nx] - 4 * from[p]);
      marks[p] = to[p] > 1;
    }
}

static void decay(double *x, int n, double rate)
{
  for (int p = 0; p < n; p++)
    x[p] = x[p] / (1 + rate * x[p]);
}

static void count(const double *x, int n)
{
  double sum = 0, low = 1e9, down = 0;
  int cells = 0;

  for (int p = 0; p < n; p++) {
    sum += x[p];
    if (x[p] < low) low = x[p];
    cells += marks[p];
  }
  for (int p = n - 1; p >= 0; p--)
    down += x[p] * x[p];
  total += sum + down;
  least = fmin(least, low);
  last = cells;
}

static void tail(double *x, int n)
{
  for (int p = 0; p < n - 3; p++)
    x[p] *= 0.99;
}

static void place(double *x, int n)
{
  for (int p = 0; p < n; p++)
    x[p] += 0.001 * p;
}

static void smooth(float x[5][6][7])
{
  for (int i = 1; i < 4; i++)
    for (int j = 1; j < 5; j++)
      for (int k = 0; k < 7; k++)
        x[i][j][k] = 0.5f * (x[i][j][k] + (i + j) % 3);
}

static void halve(float *x, int n)
{
  for (int p = 0; p < n; p++)
    x[p] *= 0.5f;
}

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 13;

  c = malloc(N * sizeof *c);
  d = malloc(N * sizeof *d);
  for (int p = 0; p < N; p++)
    c[p] = d[p] = p * 11 % 29 / 8.0;
#pragma ambit
  for (int t = 0; t < steps; t++) {
    spread(c, d, NX, NY);
    decay(d, N, 0.01);
    if (t % 4 == 3) count(d, N);
    if (t % 5 == 4) tail(d, N);
    if (t % 6 == 5) place(d, N);
    smooth(box);
    halve(&box[0][0][0], 5 * 6 * 7);
    double *w = c;
    c = d;
    d = w;
  }
  printf("%a %a %a\n", total, least, last);
  show("c", c, N * sizeof *c);
  show("d", d, N * sizeof *d);
  show("box", box, sizeof box);
  show("marks", marks, sizeof marks);
  return 0;
}
