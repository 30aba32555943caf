/* SPDX-License-Identifier: BSD-3-Clause */
/* Few values of a cell that lie together in one flat array: an array each, and one step for all of them. Host code uses
 * single ones, and all of them. */
#include "show.h"

#include <stdlib.h>

#define NX 19
#define NY 14

static const int cx[5] = {0, 1, -1, 0, 0}, cy[5] = {0, 0, 0, 1, -1};

/* D2Q5 in a periodic box, from a to b. */
static void stream(const double *a, double *b)
{
  for (int y = 0; y < NY; y++)
    for (int x = 0; x < NX; x++) {
      double f[5], rho = 0;

      for (int q = 0; q < 5; q++) {
        f[q] = a[((y - cy[q] + NY) % NY * NX + (x - cx[q] + NX) % NX) * 5 + q];
        rho += f[q];
      }
      for (int q = 0; q < 5; q++)
        b[(y * NX + x) * 5 + q] = f[q] + 0.5 * (rho / 5 - f[q]);
    }
}

/* Complex numbers, real and imaginary parts side by side; neighbours without guards. */
static void turn(float *z, const float *old, int n)
{
  for (int i = 1; i < n - 1; i++) {
    z[2 * i] = 0.25f * (old[2 * i - 2] + old[2 * i + 2]) - 0.5f * old[2 * i + 1];
    z[2 * i + 1] = 0.25f * (old[2 * i - 1] + old[2 * i + 3]) + 0.5f * old[2 * i];
  }
}

int main(void)
{
  double *a = malloc(NX * NY * 5 * sizeof *a), *b = malloc(NX * NY * 5 * sizeof *b), *swap;
  float z[2 * 40], old[2 * 40];

  for (int i = 0; i < NX * NY * 5; i++)
    a[i] = b[i] = 1 + (i * 7 % 13) * 0.01;
  for (int i = 0; i < 80; i++)
    z[i] = old[i] = (float)(i % 11);
#pragma ambit must
  for (int t = 0; t < 6; t++) {
    stream(a, b);
    turn(z, old, 40);
    b[(3 * NX + 4) * 5 + 2] += 0.125; /* a source */
    if (t == 3) show("b", b, NX * NY * 5 * sizeof *b);
    for (int i = 1; i < 39; i++) {
      old[2 * i] = z[2 * i];
      old[2 * i + 1] = z[2 * i + 1];
    }
    swap = a;
    a = b;
    b = swap;
  }
  show("a", a, NX * NY * 5 * sizeof *a);
  show("z", z, sizeof z);
  free(a);
  free(b);
  return 0;
}
