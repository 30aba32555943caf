/* A convergence loop on the largest change, C89 variables, fixed edges, and a sum at the end. */
#include "show.h"

#include <math.h>
#include <stdlib.h>

#define NX 34
#define NY 27

static double t0[NY][NX], t1[NY][NX];

int main(void)
{
  int i, j, iter = 0;
  double err = 1.0, tol = 1e-3, sum = 0, diff;

  for (j = 0; j < NY; j++)
    t0[j][0] = t1[j][0] = 1.0;
#pragma ambit
  while (err > tol && iter < 500) {
    err = 0.0;
    for (j = 1; j < NY - 1; j++)
      for (i = 1; i < NX - 1; i++) {
        t1[j][i] = 0.25 * (t0[j][i + 1] + t0[j][i - 1] + t0[j - 1][i] + t0[j + 1][i]);
        diff = fabs(t1[j][i] - t0[j][i]);
        err = fmax(err, diff);
      }
    for (j = 1; j < NY - 1; j++)
      for (i = 1; i < NX - 1; i++)
        t0[j][i] = t1[j][i];
    if (iter % 50 == 0) printf("%5d, %0.17g\n", iter, err);
    iter++;
  }
#pragma ambit
  for (j = 0; j < NY; j++)
    for (i = 0; i < NX; i++)
      sum += t0[j][i] * t0[j][i];
  printf("%d %.17g %.17g\n", iter, err, sum);
  show("t0", t0, sizeof t0);
  return 0;
}
