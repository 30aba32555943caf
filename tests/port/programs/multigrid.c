/* A V-cycle as it is often written: levels in a struct, sizes that halve, functions per operation, residuals by a macro, a loop until
 * the norm is small. */
#include <math.h>
#include <stdlib.h>

#include "show.h"

#define AT(g, j, i) ((g)[(size_t)(j)*stride + (i)])

enum { LEVELS = 4 };

typedef struct level {
  int n; /* cells inside */
  double *u, *f, *r, *t;
} level;

#pragma ambit
static void smooth(int n, double *u, const double *f, double *t, double h2)
{
  const int stride = n + 2;

  for (int j = 1; j <= n; j++)
    for (int i = 1; i <= n; i++)
      AT(t, j, i) = AT(u, j, i) + 0.2 * (AT(u, j - 1, i) + AT(u, j + 1, i) + AT(u, j, i - 1) +
                                         AT(u, j, i + 1) - 4 * AT(u, j, i) + h2 * AT(f, j, i));
  for (int j = 1; j <= n; j++)
    for (int i = 1; i <= n; i++)
      AT(u, j, i) = AT(t, j, i);
}

#pragma ambit
static double residual(level *l, double h2)
{
  const int stride = l->n + 2, n = l->n;
  double most = 0;

  for (int j = 1; j <= n; j++)
    for (int i = 1; i <= n; i++) {
      AT(l->r, j, i) =
          AT(l->f, j, i) + (AT(l->u, j - 1, i) + AT(l->u, j + 1, i) + AT(l->u, j, i - 1) +
                            AT(l->u, j, i + 1) - 4 * AT(l->u, j, i)) /
                               h2;
      most = fmax(most, fabs(AT(l->r, j, i)));
    }
  return most;
}

/* Two cells for one: host code. */
static void restrict_to(const level *fine, level *coarse)
{
  const int a = fine->n + 2, b = coarse->n + 2;

  for (int j = 1; j <= coarse->n; j++)
    for (int i = 1; i <= coarse->n; i++) {
      coarse->f[j * b + i] =
          0.25 * (fine->r[(2 * j - 1) * a + 2 * i - 1] + fine->r[(2 * j - 1) * a + 2 * i] +
                  fine->r[2 * j * a + 2 * i - 1] + fine->r[2 * j * a + 2 * i]);
      coarse->u[j * b + i] = 0;
    }
}

static void prolong(const level *coarse, level *fine)
{
  const int a = fine->n + 2, b = coarse->n + 2;

  for (int j = 1; j <= fine->n; j++)
    for (int i = 1; i <= fine->n; i++)
      fine->u[j * a + i] += coarse->u[((j + 1) / 2) * b + (i + 1) / 2];
}

static void cycle(level *l, int k)
{
  const double h = 1.0 / l[k].n, h2 = h * h;

  for (int s = 0; s < 3; s++)
    smooth(l[k].n, l[k].u, l[k].f, l[k].t, h2);
  if (k + 1 == LEVELS) return;
  residual(&l[k], h2);
  restrict_to(&l[k], &l[k + 1]);
  cycle(l, k + 1);
  prolong(&l[k + 1], &l[k]);
  for (int s = 0; s < 3; s++)
    smooth(l[k].n, l[k].u, l[k].f, l[k].t, h2);
}

int main(void)
{
  level l[LEVELS];
  double norm = 1;

  for (int k = 0, n = 32; k < LEVELS; k++, n /= 2) {
    const size_t cells = (size_t)((n + 2) * (n + 2));

    l[k] = (level){n, calloc(cells, 8), calloc(cells, 8), calloc(cells, 8), calloc(cells, 8)};
  }
  for (int j = 1; j <= 32; j++)
    for (int i = 1; i <= 32; i++)
      l[0].f[j * 34 + i] = (i * j) % 5 - 2;
  for (int t = 0; t < 6 && norm > 1e-6; t++) {
    cycle(l, 0);
    norm = residual(&l[0], 1.0 / 1024);
    printf("%d %.17g\n", t, norm);
  }
  for (int k = 0; k < LEVELS; k++) {
    show("u", l[k].u, sizeof(double) * (size_t)((l[k].n + 2) * (l[k].n + 2)));
    show("t", l[k].t, sizeof(double) * (size_t)((l[k].n + 2) * (l[k].n + 2)));
  }
  for (int k = 0; k < LEVELS; k++) {
    free(l[k].u);
    free(l[k].f);
    free(l[k].r);
    free(l[k].t);
  }
  return 0;
}
