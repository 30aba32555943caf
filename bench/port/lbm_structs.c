/* SPDX-License-Identifier: BSD-3-Clause */
/* Lattice Boltzmann, D2Q9 in a periodic box: an array of structs with nine values each. */
#include "clock.h"

#define NX 600
#define NY 600

typedef struct {
  float f[9];
} cell;

static const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const float w[9] = {4.f / 9,  1.f / 9,  1.f / 9,  1.f / 9, 1.f / 9,
                           1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 60;
  cell *a = malloc(NX * NY * sizeof *a), *b = malloc(NX * NY * sizeof *b);
  double sum = 0;

  for (int p = 0; p < NX * NY; p++)
    for (int q = 0; q < 9; q++)
      a[p].f[q] = b[p].f[q] = w[q] * (1 + 0.01f * (float)sin(6.2831853 * (p / NX) / NY + q));
  CLOCK_BEGIN
#pragma ambit
  for (int t = 0; t < steps; t++) {
    cell *swap;

#pragma omp parallel for
    for (int y = 0; y < NY; y++)
      for (int x = 0; x < NX; x++) {
        float f[9], rho = 0, ux = 0, uy = 0;

        for (int q = 0; q < 9; q++) {
          f[q] = a[(y - cy[q] + NY) % NY * NX + (x - cx[q] + NX) % NX].f[q];
          rho += f[q];
          ux += cx[q] * f[q];
          uy += cy[q] * f[q];
        }
        ux /= rho;
        uy /= rho;
        for (int q = 0; q < 9; q++) {
          const float cu = 3 * (cx[q] * ux + cy[q] * uy);

          b[y * NX + x].f[q] =
              f[q] -
              1.2f * (f[q] - w[q] * rho * (1 + cu + 0.5f * cu * cu - 1.5f * (ux * ux + uy * uy)));
        }
      }
    swap = a;
    a = b;
    b = swap;
  }
  CLOCK_END
  for (int p = 0; p < NX * NY; p++)
    for (int q = 0; q < 9; q++)
      sum += a[p].f[q] * ((p * 7 + q) % 100);
  CLOCK_PRINT(sum);
  free(a);
  free(b);
  return 0;
}
