/* SPDX-License-Identifier: BSD-3-Clause */
/* cardiac.c - electrical waves in heart tissue: the model of Aliev and Panfilov, in serial C.
 *
 *   cardiac [N [NZ [TIME [PICTURE.ppm]]]]    NZ layers of N x N cells, until TIME
 *
 * Each cell has a potential E, which diffuses, and a recovery R, coupled by two ordinary
 * differential equations. No current leaves the tissue: faces are mirrored. The start, one half
 * excited and another half recovering, curls up into a spiral. One pragma makes the program
 * parallel: ambit port cardiac.c
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define AT(z, y, x) (((z) * (n + 2) + (y)) * (n + 2) + (x))

typedef struct model {
  double a, b, k, m1, m2, epsilon, diffusion;
} model;

static const model tissue = {0.1, 0.1, 8.0, 0.07, 0.3, 0.01, 5e-5};

static double time_step(const model *m, double dx)
{
  double rp = m->k * (m->b + 1) * (m->b + 1) / 4;
  double diffusing = dx * dx / (m->diffusion * 6 + dx * dx * (rp + m->k));
  double recovering = 1 / (m->epsilon + m->m1 / m->m2 * rp);

  return 0.95 * (diffusing < recovering ? diffusing : recovering);
}

/* A face gets what lies two cells further in. */
static void mirror(double *e, int nz, int n)
{
  for (int y = 1; y <= n; y++)
    for (int x = 1; x <= n; x++) {
      e[AT(0, y, x)] = e[AT(2, y, x)];
      e[AT(nz + 1, y, x)] = e[AT(nz - 1, y, x)];
    }
  for (int z = 1; z <= nz; z++)
    for (int x = 1; x <= n; x++) {
      e[AT(z, 0, x)] = e[AT(z, 2, x)];
      e[AT(z, n + 1, x)] = e[AT(z, n - 1, x)];
    }
  for (int z = 1; z <= nz; z++)
    for (int y = 1; y <= n; y++) {
      e[AT(z, y, 0)] = e[AT(z, y, 2)];
      e[AT(z, y, n + 1)] = e[AT(z, y, n - 1)];
    }
}

static void diffuse(const double *old, double *e, int nz, int n, double alpha)
{
  for (int z = 1; z <= nz; z++)
    for (int y = 1; y <= n; y++)
      for (int x = 1; x <= n; x++)
        e[AT(z, y, x)] = old[AT(z, y, x)] + alpha * (old[AT(z, y, x + 1)] + old[AT(z, y, x - 1)] -
                                                     6 * old[AT(z, y, x)] + old[AT(z, y + 1, x)] +
                                                     old[AT(z, y - 1, x)] + old[AT(z + 1, y, x)] +
                                                     old[AT(z - 1, y, x)]);
}

static void react(double *e, double *r, int nz, int n, double dt, const model *m)
{
  for (int z = 1; z <= nz; z++)
    for (int y = 1; y <= n; y++)
      for (int x = 1; x <= n; x++) {
        int p = AT(z, y, x);

        e[p] = e[p] - dt * (m->k * e[p] * (e[p] - m->a) * (e[p] - 1) + e[p] * r[p]);
        r[p] = r[p] + dt * (m->epsilon + m->m1 * r[p] / (e[p] + m->m2)) *
                          (-r[p] - m->k * e[p] * (e[p] - m->b - 1));
      }
}

/* The middle layer: potential in red, recovery in blue. */
static int draw(const char *path, const double *e, const double *r, int nz, int n)
{
  FILE *f = fopen(path, "wb");

  if (!f) return 1;
  fprintf(f, "P6\n%d %d\n255\n", n, n);
  for (int y = 1; y <= n; y++)
    for (int x = 1; x <= n; x++) {
      double u = e[AT((nz + 1) / 2, y, x)], v = r[AT((nz + 1) / 2, y, x)] / 2.5;
      unsigned char rgb[3];

      u = u < 0 ? 0 : u > 1 ? 1 : u;
      v = v < 0 ? 0 : v > 1 ? 1 : v;
      rgb[0] = (unsigned char)(255 * sqrt(u));
      rgb[1] = (unsigned char)(255 * (0.75 * u * u + 0.15 * v));
      rgb[2] = (unsigned char)(255 * (0.12 + 0.6 * v) * (1 - 0.8 * u));
      fwrite(rgb, 1, 3, f);
    }
  return fclose(f) != 0;
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 64, nz = argc > 2 ? atoi(argv[2]) : 4;
  double until = argc > 3 ? atof(argv[3]) : 60, dx = 1.0 / n, dt = time_step(&tissue, dx);
  double alpha = tissue.diffusion * dt / (dx * dx), most = 0, t = 0;
  size_t cells = (size_t)(nz + 2) * (size_t)(n + 2) * (size_t)(n + 2);
  double *e = calloc(cells, sizeof *e), *old = calloc(cells, sizeof *old),
         *r = calloc(cells, sizeof *r), *swap;
  int steps = 0, wrong = 0;

  if (!e || !old || !r || n < 2 || nz < 2) return 1;
  for (int z = 1; z <= nz; z++)
    for (int y = 1; y <= n; y++)
      for (int x = 1; x <= n; x++) {
        old[AT(z, y, x)] = x > n / 2;
        r[AT(z, y, x)] = y > n / 2;
      }
#pragma ambit
  while (t < until) {
    mirror(old, nz, n);
    diffuse(old, e, nz, n, alpha);
    react(e, r, nz, n, dt, &tissue);
    swap = old;
    old = e;
    e = swap;
    t += dt;
    steps++;
  }
  for (int z = 1; z <= nz; z++)
    for (int y = 1; y <= n; y++)
      for (int x = 1; x <= n; x++)
        if (old[AT(z, y, x)] > most) most = old[AT(z, y, x)];
  if (argc > 4) wrong |= draw(argv[4], old, r, nz, n);
  wrong |= !(most > 0.5 && most < 1.2); /* a wave is still on its way, and nothing blew up */
  printf("%d steps, largest potential %.6f: %s\n", steps, most, wrong ? "WRONG" : "ok");
  free(e);
  free(old);
  free(r);
  return wrong;
}
