/* SPDX-License-Identifier: BSD-3-Clause */
/* Single elements on the host between steps: sources, receivers, and cells that no step uses. */
#include "show.h"

#include <stdlib.h>

enum { N = 30, STEPS = 12 };

typedef struct cell {
  float h;
  double v;
} cell;

typedef struct grid {
  int n;
  double *u;
} grid;

static double field[N][N], other[N][N], trace[STEPS];
static int place[3] = {4, 9, 20};

static double wave(int t)
{
  return 1.0 / (1 + t);
}

int main(void)
{
  grid g = {N, calloc(N * N, sizeof(double))};
  cell *c = calloc(N, sizeof *c);
  double *w = calloc(N * N, sizeof *w), sum = 0;

#pragma ambit must
  for (int t = 0; t < STEPS; t++) {
    for (int j = 1; j < N - 1; j++)
      for (int i = 1; i < N - 1; i++)
        w[j * N + i] = 2 * g.u[j * N + i] - w[j * N + i] +
                       0.1 * (g.u[j * N + i - 1] + g.u[j * N + i + 1] + g.u[(j - 1) * N + i] +
                              g.u[(j + 1) * N + i] - 4 * g.u[j * N + i]);
    w[N / 2 * N + N / 2] += wave(t);
    w[place[1] * N + 3] = w[place[2] * N + 5] + t; /* two elements of one array */
    *(w + N + 4) -= 1;
    trace[t] = w[N / 3 * N + N / 2];
    g.u[0] = t; /* an edge that steps do not write */
    for (int i = 1; i < N - 1; i++) {
      c[i].h = c[i].h + 1;
      c[i].v = c[i + 1].h * 0.5;
    }
    c[7].h *= 2;
    c[0].v = c[7].h + c[8].v;
    for (int j = 0; j < N; j++)
      for (int i = 0; i < N; i++)
        field[j][i] = 0.5 * field[j][i] + other[j][i];
    if (t % 4 == 1) other[t][2] = field[t][2] + 1;
    other[place[0]][t]++;
    double x = field[3][3], *p = other[0];
    sum += x;
    int k = 0;
    while (k < 40) { /* more than a few */
      double *q = p + k++ * 3;
      *q += 0.25;
      sum += *q;
    }
    double *swap = g.u;
    g.u = w;
    w = swap;
  }
  printf("%.17g\n", sum);
  for (int i = 0; i < N; i++)
    printf("%g %g\n", c[i].h, c[i].v);
  show("u", g.u, N * N * sizeof *g.u);
  show("w", w, N * N * sizeof *w);
  show("field", field, sizeof field);
  show("other", other, sizeof other);
  show("trace", trace, sizeof trace);
  return 0;
}
