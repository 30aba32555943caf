/* Arrays of structs, arrays behind members, called functions in the kernel, a table of coefficients. */
#include "show.h"

#include <math.h>
#include <stdlib.h>

typedef struct cell {
  double h, u;
  int wall;
} cell;

typedef struct grid {
  int nx, ny;
  double dx, *p, *q;
} grid;

static inline int at(const grid *g, int i, int j)
{
  return j * g->nx + i;
}

static double flux(double a, double b)
{
  if (a > b) return 0.5 * (a - b);
  double d = b - a;

  return -0.25 * d;
}

int main(void)
{
  enum { N = 45 };
  static cell c[N], d[N];
  grid g = {23, 17, 0.1, NULL, NULL};
  double w[17];

  g.p = malloc(sizeof(double) * g.nx * g.ny);
  g.q = malloc(sizeof(double) * g.nx * g.ny);
  for (int k = 0; k < g.nx * g.ny; k++)
    g.p[k] = g.q[k] = k % 9 * 0.5;
  for (int j = 0; j < 17; j++)
    w[j] = 1.0 + 0.01 * j;
  for (int i = 0; i < N; i++) {
    c[i].h = i % 7;
    c[i].u = i % 3 * 0.5;
    c[i].wall = i % 11 == 5;
    d[i] = c[i];
  }
#pragma ambit
  for (int t = 0; t < 5; t++) {
    for (int i = 1; i < N - 1; i++) {
      d[i].h = c[i].h + 0.1 * (flux(c[i - 1].h, c[i].h) - flux(c[i].h, c[i + 1].h));
      d[i].u = c[i].wall ? 0 : c[i].u + 0.05 * (c[i + 1].h - c[i - 1].h);
    }
    for (int i = 1; i < N - 1; i++) {
      c[i].h = d[i].h;
      c[i].u = d[i].u;
    }
    for (int j = 1; j < g.ny - 1; j++)
      for (int i = 1; i < g.nx - 1; i++)
        g.q[at(&g, i, j)] = w[j] * (g.p[at(&g, i - 1, j)] + g.p[at(&g, i + 1, j)]) / g.dx +
                            sqrt(fabs(g.p[at(&g, i, j + 1)]));
    double *s = g.p;
    g.p = g.q;
    g.q = s;
  }
  for (int i = 0; i < N; i++)
    printf("%.17g %.17g\n", c[i].h, c[i].u);
  show("p", g.p, sizeof(double) * g.nx * g.ny);
  show("q", g.q, sizeof(double) * g.nx * g.ny);
  free(g.p);
  free(g.q);
  return 0;
}
