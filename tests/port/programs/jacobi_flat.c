#include <stdio.h>
#include <stdlib.h>

static void init(double *u, int ny, int nx)
{
  for (int j = 0; j < ny; j++)
    for (int i = 0; i < nx; i++)
      u[j * nx + i] = (j * 7 + i * 3) % 11 + 0.1 * i;
}

int main(int argc, char **argv)
{
  int nx = argc > 1 ? atoi(argv[1]) : 33, ny = argc > 2 ? atoi(argv[2]) : 21, steps = 17;
  double *u = malloc(sizeof(double) * nx * ny), *v = malloc(sizeof(double) * nx * ny);

  init(u, ny, nx);
  init(v, ny, nx);
#pragma ambit
  for (int t = 0; t < steps; t++) {
    for (int j = 1; j < ny - 1; j++)
      for (int i = 1; i < nx - 1; i++)
        v[j * nx + i] = 0.25 * (u[j * nx + i - 1] + u[j * nx + i + 1] + u[(j - 1) * nx + i] +
                                u[(j + 1) * nx + i]);
    double *w = u;
    u = v;
    v = w;
  }
  double sum = 0;
  for (int k = 0; k < nx * ny; k++)
    sum += u[k] * (k % 5 + 1);
  printf("%.17g %.17g\n", sum, u[nx + 1]);
  free(u);
  free(v);
  return 0;
}
