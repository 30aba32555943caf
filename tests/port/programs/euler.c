/* Gas in a tube and in a box, structs of arrays from one allocation, flattened by IDX as Fortran programs are: a time step from the
 * fastest wave, a loop until an end time, edges by hand, a function per flux. */
#include <math.h>
#include <stdlib.h>

#include "show.h"

#define IDX(i, j, k) ((i) + nx * ((j) + ny * (k)))

typedef struct gas {
  int nx, ny, nz;
  double *rho, *mx, *e;
  double *rho_new, *mx_new, *e_new;
} gas;

static double pressure(double rho, double m, double e)
{
  return 0.4 * (e - 0.5 * m * m / rho);
}

static double flux(double a, double b, double ua, double ub, double s)
{
  return 0.5 * (a + b) - 0.5 * s * (ub - ua);
}

#pragma ambit
static double advance(gas *g, double t, double end)
{
  const int nx = g->nx, ny = g->ny, nz = g->nz;
  double *rho = g->rho, *mx = g->mx, *e = g->e;

  while (t < end) {
    double fastest = 0, dt;

    for (int k = 1; k < nz - 1; k++)
      for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
          const int c = IDX(i, j, k);
          const double p = pressure(rho[c], mx[c], e[c]);

          fastest = fmax(fastest, fabs(mx[c] / rho[c]) + sqrt(1.4 * p / rho[c]));
        }
    dt = 0.4 / fastest;
    if (t + dt > end) dt = end - t;
    for (int k = 1; k < nz - 1; k++)
      for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
          const int c = IDX(i, j, k), l = c - 1, r = c + 1;
          const double pl = pressure(rho[l], mx[l], e[l]), pc = pressure(rho[c], mx[c], e[c]),
                       pr = pressure(rho[r], mx[r], e[r]);

          g->rho_new[c] = rho[c] -
                          dt * (flux(mx[c], mx[r], rho[c], rho[r], fastest) -
                                flux(mx[l], mx[c], rho[l], rho[c], fastest)) +
                          0.01 * (rho[c + nx] - 2 * rho[c] + rho[c - nx]);
          g->mx_new[c] = mx[c] - dt * (flux(mx[c] * mx[c] / rho[c] + pc,
                                            mx[r] * mx[r] / rho[r] + pr, mx[c], mx[r], fastest) -
                                       flux(mx[l] * mx[l] / rho[l] + pl,
                                            mx[c] * mx[c] / rho[c] + pc, mx[l], mx[c], fastest));
          g->e_new[c] = e[c] - dt * (flux((e[c] + pc) * mx[c] / rho[c],
                                          (e[r] + pr) * mx[r] / rho[r], e[c], e[r], fastest) -
                                     flux((e[l] + pl) * mx[l] / rho[l],
                                          (e[c] + pc) * mx[c] / rho[c], e[l], e[c], fastest));
        }
    for (int k = 1; k < nz - 1; k++)
      for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
          rho[IDX(i, j, k)] = g->rho_new[IDX(i, j, k)];
          mx[IDX(i, j, k)] = g->mx_new[IDX(i, j, k)];
          e[IDX(i, j, k)] = g->e_new[IDX(i, j, k)];
        }
    for (int k = 0; k < nz; k++)
      for (int j = 0; j < ny; j++) {
        rho[IDX(0, j, k)] = rho[IDX(1, j, k)];
        mx[IDX(0, j, k)] = -mx[IDX(1, j, k)];
        e[IDX(0, j, k)] = e[IDX(1, j, k)];
        rho[IDX(nx - 1, j, k)] = rho[IDX(nx - 2, j, k)];
        mx[IDX(nx - 1, j, k)] = -mx[IDX(nx - 2, j, k)];
        e[IDX(nx - 1, j, k)] = e[IDX(nx - 2, j, k)];
      }
    for (int k = 0; k < nz; k++)
      for (int i = 0; i < nx; i++) {
        rho[IDX(i, 0, k)] = rho[IDX(i, ny - 2, k)];
        rho[IDX(i, ny - 1, k)] = rho[IDX(i, 1, k)];
      }
    t += dt;
  }
  return t;
}

int main(void)
{
  gas g = {.nx = 24, .ny = 9, .nz = 5};
  const size_t n = (size_t)(g.nx * g.ny * g.nz);
  double *all = malloc(6 * n * sizeof *all), t = 0;

  g.rho = all;
  g.mx = all + n;
  g.e = all + 2 * n;
  g.rho_new = all + 3 * n;
  g.mx_new = all + 4 * n;
  g.e_new = all + 5 * n;
  for (size_t c = 0; c < n; c++) {
    const int left = (int)(c % (size_t)g.nx) < g.nx / 2;

    g.rho[c] = left ? 1 : 0.125 + 0.001 * (double)(c % 7);
    g.mx[c] = 0;
    g.e[c] = left ? 2.5 : 0.25;
    g.rho_new[c] = g.mx_new[c] = g.e_new[c] = -1;
  }
  for (int part = 0; part < 3; part++) {
    double mass = 0;

    t = advance(&g, t, 1.5 * (part + 1));
    for (size_t c = 0; c < n; c++)
      mass += g.rho[c];
    printf("%.17g %.17g\n", t, mass);
  }
  show("all", all, 6 * n * sizeof *all);
  free(all);
  return 0;
}
