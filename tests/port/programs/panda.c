/* Panda's directives, as in the paper: a 7-point stencil on flattened arrays, mirrored faces, a reduction. */
#include "show.h"

#include <stdlib.h>

int main(void)
{
  int Nx = 14, Ny = 11, Nz = 9, iterations = 7;
  size_t n = (size_t)(Nx + 2) * (Ny + 2) * (Nz + 2);
  double *u_old = malloc(n * sizeof(double)), *u_new = malloc(n * sizeof(double)), *tmp;
  double kC0 = 0.1, kC1 = 0.4, norm = 0;

  for (size_t k = 0; k < n; k++)
    u_old[k] = u_new[k] = (double)(k * 7 % 19);
#pragma panda distribute(u_old, u_new) size(Nx + 2, Ny + 2, Nz + 2)
  for (int t = 0; t < iterations; t++) {
#pragma panda boundary(zmin) size(Nx, Ny)
    for (int j = 1; j <= Ny; j++)
      for (int i = 1; i <= Nx; i++) {
        int index = i + j * (Nx + 2);
        u_old[index] = u_old[index + 2 * (Nx + 2) * (Ny + 2)];
      }
    for (int k = 1; k < Nz + 1; k++)
      for (int j = 1; j < Ny + 1; j++)
        for (int i = 1; i < Nx + 1; i++) {
          int idx = i + j * (Nx + 2) + k * (Nx + 2) * (Ny + 2);
          u_new[idx] =
              kC1 * u_old[idx] + kC0 * (u_old[idx - 1] + u_old[idx + 1] + u_old[idx - (Nx + 2)] +
                                        u_old[idx + (Nx + 2)] + u_old[idx - (Nx + 2) * (Ny + 2)] +
                                        u_old[idx + (Nx + 2) * (Ny + 2)]);
        }
#pragma panda wait
    tmp = u_old;
    u_old = u_new;
    u_new = tmp;
  }
#pragma ambit sum(order)
  for (int k = 1; k < Nz + 1; k++)
    for (int j = 1; j < Ny + 1; j++)
      for (int i = 1; i < Nx + 1; i++)
        norm += u_old[i + j * (Nx + 2) + k * (Nx + 2) * (Ny + 2)];
  printf("%.17g\n", norm);
  show("u_old", u_old, n * sizeof(double));
  show("u_new", u_new, n * sizeof(double));
  free(u_old);
  free(u_new);
  return 0;
}
