/* Edge fills of a flattened array in a function of their own, mirrored and periodic; an index macro; float. */
#include "show.h"

#include <stdlib.h>

#define IDX(i, j) ((j) * (nx + 2) + (i))

#pragma ambit
static void edges(float *u, int nx, int ny)
{
  int i, j;

  for (j = 1; j <= ny; j++) {
    u[IDX(0, j)] = u[IDX(2, j)];
    u[IDX(nx + 1, j)] = u[IDX(nx - 1, j)];
  }
  for (i = 0; i <= nx + 1; i++) {
    u[IDX(i, 0)] = u[IDX(i, ny)];
    u[IDX(i, ny + 1)] = u[IDX(i, 1)];
  }
}

#pragma ambit
static void step(const float *u, float *v, int nx, int ny, float k)
{
  for (int j = 1; j <= ny; j++)
    for (int i = 1; i <= nx; i++) {
      float d = u[IDX(i - 1, j)] + u[IDX(i + 1, j)] + u[IDX(i, j - 1)] + u[IDX(i, j + 1)];

      v[IDX(i, j)] = u[IDX(i, j)] + k * (d - 4 * u[IDX(i, j)]);
    }
}

int main(int argc, char **argv)
{
  int nx = argc > 1 ? atoi(argv[1]) : 19, ny = argc > 2 ? atoi(argv[2]) : 23;
  size_t bytes = sizeof(float) * (size_t)((nx + 2) * (ny + 2));
  float *u = malloc(bytes), *v = malloc(bytes), *w;

  for (int k = 0; k < (nx + 2) * (ny + 2); k++)
    u[k] = v[k] = (float)(k * 31 % 17) * 0.25f;
  for (int t = 0; t < 12; t++) {
    edges(u, nx, ny);
    step(u, v, nx, ny, 0.2f);
    w = u, u = v, v = w;
    if (t % 5 == 4) printf("%d %.9g\n", t, u[IDX(3, 4)]);
  }
  show("u", u, bytes);
  show("v", v, bytes);
  free(u);
  free(v);
  return 0;
}
