/* One loop over all cells, with / and %; copies over all rows; tiles; the same loop variable in several loops of a nest. */
#include "show.h"
#include <stdlib.h>
#define TILE      8
#define MIN(a, b) ((a) < (b) ? (a) : (b))

static void smooth(const double *a, double *b, int nx, int ny, int nz)
{
#pragma ambit must
  for (int p = 0; p < nx * ny * nz; p++) {
    const int z = p / (nx * ny), r = p % (nx * ny), y = r / nx, x = r % nx;

    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
      b[p] = a[p];
      continue;
    }
    b[p] = (a[p - 1] + a[p + 1] + a[p - nx] + a[p + nx] + a[p - nx * ny] + a[p + nx * ny]) / 6.0;
  }
}

static void tiles(const double *a, double *b, int n, int m)
{
#pragma ambit must
  for (int ii = 1; ii < n - 1; ii += TILE)
    for (int jj = 1; jj < m - 1; jj += TILE)
      for (int i = ii; i < MIN(ii + TILE, n - 1); i++)
        for (int j = jj; j < MIN(jj + TILE, m - 1); j++)
          b[i * m + j] = 0.25 * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] +
                                 a[i * m + j + 1]);
}

static void rows(double *a, double *b, int n, int nx)
{
  int i, j;

#pragma ambit must
  for (i = 1; i < n; i++) {
    for (j = 0; j < nx; j++)
      a[i * nx + j] += 0.5 * b[i * nx + j];
    for (j = 1; j < nx - 1; j++)
      b[i * nx + j] = b[i * nx + j] * 0.9;
  }
  printf("%d %d\n", i, j);
}

int main(int argc, char **argv)
{
  const int nx = argc > 1 ? atoi(argv[1]) : 11, ny = 9, nz = 6, n = nx * ny * nz;
  double *a = malloc(n * sizeof *a), *b = calloc(n, sizeof *b), s = 0;

  for (int k = 0; k < n; k++)
    a[k] = k * 7 % 10;
#pragma ambit must
  for (int t = 0; t < 3; t++) {
    smooth(a, b, nx, ny, nz);
    for (int c = 0; c < nx * ny * nz; c++)
      s += (c % nx + (c / nx) % ny * (c / (nx * ny))) * b[c];
    for (int p = 0; p < n; p++)
      a[p] = b[p];
    tiles(a, b, nz * ny, nx);
    rows(a, b, ny * nz, nx);
  }
  printf("%.17g\n", s);
  show("a", a, n * sizeof *a);
  show("b", b, n * sizeof *b);
  return 0;
}
