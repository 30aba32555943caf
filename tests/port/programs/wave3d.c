/* Three time levels rotated by pointers, 3-D, flattened by strides in variables, reach 2. */
#include "show.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
  int nx = argc > 1 ? atoi(argv[1]) : 17, ny = 13, nz = 11, k, j, i, t;
  int sx = nx, sxy = nx * ny;
  long n = (long)nx * ny * nz;
  double *old = calloc(n, sizeof *old), *now = calloc(n, sizeof *now),
         *next = calloc(n, sizeof *next), *tmp;
  double c0 = -2.5, c1 = 4.0 / 3, c2 = -1.0 / 12, dt2 = 0.05;

  now[(nz / 2 * ny + ny / 2) * nx + nx / 2] = 1;
#pragma ambit
  for (t = 0; t < 10; t++) {
    for (k = 2; k < nz - 2; k++)
      for (j = 2; j < ny - 2; j++)
        for (i = 2; i < nx - 2; i++) {
          const long p = (long)k * nx * ny + j * nx + i;
          double lap =
              3 * c0 * now[p] + c1 * (now[p - 1] + now[p + 1]) + c2 * (now[p - 2] + now[p + 2]);

          lap += c1 * (now[p - nx] + now[p + nx]) + c2 * (now[p - 2 * nx] + now[p + 2 * nx]);
          lap += c1 * (now[p - nx * ny] + now[p + nx * ny]) +
                 c2 * (now[p - 2 * nx * ny] + now[p + 2 * nx * ny]);
          next[p] = 2 * now[p] - old[p] + dt2 * lap;
        }
    tmp = old;
    old = now;
    now = next;
    next = tmp;
  }
  printf("%d %d\n", sx, sxy);
  show("now", now, n * sizeof *now);
  show("old", old, n * sizeof *old);
  show("next", next, n * sizeof *next);
  free(old);
  free(now);
  free(next);
  return 0;
}
