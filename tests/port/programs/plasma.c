/* Two-dimensional Maxwell with absorbing layers from tables, Fortran order and offsets from 1, one struct of arrays, totals for some steps;
 * nests in a do-while that ends when the energy is small. */
#include <math.h>
#include <stdlib.h>

#include "show.h"

#define EZ(i, j) m->ez[((i)-1) + ((j)-1) * m->nx]
#define HX(i, j) m->hx[((i)-1) + ((j)-1) * m->nx]
#define HY(i, j) m->hy[((i)-1) + ((j)-1) * m->nx]

typedef struct maxwell {
  int nx, ny;
  double *ez, *hx, *hy, *damp_x, *damp_y;
  double energy;
} maxwell;

static double damped(double value, double a, double b)
{
  return value * (1 - a) * (1 - b);
}

#pragma ambit
static void step_h(maxwell *m)
{
  for (int j = 1; j <= m->ny - 1; j++)
    for (int i = 1; i <= m->nx; i++)
      HX(i, j) = damped(HX(i, j) - 0.5 * (EZ(i, j + 1) - EZ(i, j)), 0, m->damp_y[j - 1]);
  for (int j = 1; j <= m->ny; j++)
    for (int i = 1; i <= m->nx - 1; i++)
      HY(i, j) = damped(HY(i, j) + 0.5 * (EZ(i + 1, j) - EZ(i, j)), m->damp_x[i - 1], 0);
}

#pragma ambit
static void step_e(maxwell *m)
{
  for (int j = 2; j <= m->ny - 1; j++)
    for (int i = 2; i <= m->nx - 1; i++)
      EZ(i, j) = damped(EZ(i, j) + 0.5 * (HY(i, j) - HY(i - 1, j) - HX(i, j) + HX(i, j - 1)),
                        m->damp_x[i - 1], m->damp_y[j - 1]);
}

#pragma ambit
static void measure(maxwell *m)
{
  m->energy = 0;
  for (int j = 1; j <= m->ny; j++)
    for (int i = 1; i <= m->nx; i++)
      m->energy += EZ(i, j) * EZ(i, j);
}

int main(void)
{
  maxwell box = {.nx = 37, .ny = 29}, *m = &box;
  const size_t n = (size_t)(m->nx * m->ny);
  int t = 0;

  m->ez = calloc(n, sizeof(double));
  m->hx = calloc(n, sizeof(double));
  m->hy = calloc(n, sizeof(double));
  m->damp_x = calloc((size_t)m->nx, sizeof(double));
  m->damp_y = calloc((size_t)m->ny, sizeof(double));
  for (int i = 0; i < 6; i++) {
    m->damp_x[i] = m->damp_x[m->nx - 1 - i] = 0.02 * (6 - i);
    m->damp_y[i] = m->damp_y[m->ny - 1 - i] = 0.02 * (6 - i);
  }
  EZ(18, 15) = 10;
  do {
    step_h(m);
    step_e(m);
    if (t < 9) EZ(12, 9) += sin(0.3 * t);
    if (t % 4 == 0) measure(m);
    t++;
  } while (t < 60 && (t < 20 || m->energy > 1));
  printf("%d %.17g\n", t, m->energy);
  show("ez", m->ez, n * sizeof(double));
  show("hx", m->hx, n * sizeof(double));
  show("hy", m->hy, n * sizeof(double));
  return 0;
}
