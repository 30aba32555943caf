/* Four axes round all edges, what is written included; a sum that reads round edges; windows that end at the edge of rows behind
 * pointers. */
#include <stdlib.h>

#include "show.h"

#define L 5
#define T 7
#define AT(t, z, y, x)                                                                             \
  (((((t) + T) % T * L + ((z) + L) % L) * L + ((y) + L) % L) * L + ((x) + L) % L)
#define H 19
#define W 23

static double c[H][W];

static int wrap(int i, int n)
{
  return (i + n) % n;
}

#pragma ambit
static double energy(void)
{
  double e = 0;

  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++) {
      double gx = c[wrap(i + 1, H)][j] - c[wrap(i - 1, H)][j],
             gy = c[i][wrap(j + 1, W)] - c[i][wrap(j - 1, W)];
      e += 0.25 * (c[i][j] * c[i][j] - 1) + 0.5 * (gx * gx + gy * gy);
    }
  return e;
}

#pragma ambit
static void window(double **in, double **out, int h, int w)
{
  const double g[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};

  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      double s = 0, n = 0;
      for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
          int yy = y + i, xx = x + j;
          if (yy < 0 || yy >= h || xx < 0 || xx >= w) continue;
          s += g[i + 1][j + 1] * in[yy][xx];
          n += g[i + 1][j + 1];
        }
      out[y][x] = s / n;
    }
}

/* Rows behind pointers of which no loop goes along. */
#pragma ambit
static void edge(double **u, int h, int w)
{
  for (int y = 0; y < h; y++)
    u[y][w - 1] = u[y][w - 2];
}

static void lattice(void)
{
  int sites = L * L * L * T;
  double *phi = malloc(sites * sizeof *phi), *out = malloc(sites * sizeof *out);

  for (int i = 0; i < sites; i++)
    phi[i] = i * 2654435761u % 1000 / 1000.0;
#pragma ambit
  for (int t = 0; t < T; t++)
    for (int z = 0; z < L; z++)
      for (int y = 0; y < L; y++)
        for (int x = 0; x < L; x++)
          out[AT(t, z, y, x)] =
              8.5 * phi[AT(t, z, y, x)] - phi[AT(t + 1, z, y, x)] - phi[AT(t - 1, z, y, x)] -
              phi[AT(t, z + 1, y, x)] - phi[AT(t, z - 1, y, x)] - phi[AT(t, z, y + 1, x)] -
              phi[AT(t, z, y - 1, x)] - phi[AT(t, z, y, x + 1)] - phi[AT(t, z, y, x - 1)];
  show("out", out, sites * sizeof *out);
  free(phi);
  free(out);
}

int main(void)
{
  double *in[H], *out[H];

  for (int i = 0; i < H; i++) {
    in[i] = c[i];
    out[i] = malloc(W * sizeof **out);
    for (int j = 0; j < W; j++)
      c[i][j] = (i * 31 + j * 17) % 29;
  }
  printf("%.17g\n", energy());
  window(in, out, H, W);
  edge(out, H, W);
  for (int i = 0; i < H; i++) {
    show("row", out[i], W * sizeof **out);
    free(out[i]);
  }
  lattice();
  return 0;
}
