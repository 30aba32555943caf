/* Planes in one flat array, f[q * n + y * nx + x], where the program alone knows that n is nx * ny; read by name, in short
 * loops and in outer ones, and at neighbours with walls round the edges. */
#include "show.h"
#include <stdlib.h>
#define Q           9
#define WIDE        18
#define AT(q, y, x) ((q)*n + (y)*nx + (x))

static const int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double weight[Q] = {4. / 9,  1. / 9,  1. / 9,  1. / 9, 1. / 9,
                                 1. / 36, 1. / 36, 1. / 36, 1. / 36};

static void stream(int nx, int ny, int n, const double *f, double *g)
{
  for (int q = 0; q < Q; q++)
    for (int y = 0; y < ny; y++)
      for (int x = 0; x < nx; x++)
        g[AT(q, y, x)] = f[q * n + (y - cy[q] + ny) % ny * nx + (x - cx[q] + nx) % nx];
}

int main(void)
{
  int nx = 14, ny = 11, n = nx * ny;
  double *h = malloc(WIDE * n * sizeof *h), *k = malloc(WIDE * n * sizeof *k);
  double *f = malloc(Q * n * sizeof *f), *g = malloc(Q * n * sizeof *g),
         *rho = malloc(n * sizeof *rho);

  for (int i = 0; i < Q * n; i++)
    f[i] = g[i] = 1 + (i * 7 % 23) * 0.01;
  for (int i = 0; i < WIDE * n; i++)
    h[i] = k[i] = 1 + (i * 5 % 19) * 0.01;
#pragma ambit
  for (int t = 0; t < 6; t++) {
    for (int y = 0; y < ny; y++)
      for (int x = 0; x < nx; x++) {
        int c = y * nx + x;
        double r = 0, u = 0, v = f[2 * n + c] - f[4 * n + c];

        for (int q = 0; q < Q; q++) {
          r += f[q * n + c];
          u += cx[q] * f[q * n + c];
        }
        rho[c] = r + 0.01 * (u + v);
      }
    for (int y = 0; y < ny; y++)
      for (int x = 0; x < nx; x++)
        for (int q = 0; q < Q; q++)
          f[q * n + y * nx + x] += 0.7 * (weight[q] * rho[y * nx + x] - f[q * n + y * nx + x]);
    stream(nx, ny, n, f, g);
    for (int y = 1; y < ny - 1; y++) /* more planes than a kernel takes: two steps */
      for (int x = 1; x < nx - 1; x++) {
        double p[WIDE], sum = 0;

        for (int q = 0; q < WIDE; q++) {
          p[q] = h[q * n + (y - q % 3 + 1) * nx + x - q / 3 % 3 + 1];
          sum += p[q];
        }
        for (int q = 0; q < WIDE; q++)
          k[q * n + y * nx + x] = p[q] + 0.1 * (sum / WIDE - p[q]);
      }
    for (int x = 0; x < nx; x++)
      g[2 * n + x] = g[4 * n + x];
    double *swap = f;
    f = g;
    g = swap;
    swap = h;
    h = k;
    k = swap;
  }
  show("f", f, Q * n * sizeof *f);
  show("rho", rho, n * sizeof *rho);
  free(f);
  free(g);
  show("h", h, WIDE * n * sizeof *h);
  free(rho);
  free(h);
  free(k);
  return 0;
}
