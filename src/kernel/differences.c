/* SPDX-License-Identifier: BSD-3-Clause */
/* differences.c - weights of finite differences: a call of the public interface, and the function
 * coefficient() of the kernel language (make_expr.c). */
#include "ambit.h"

#include <string.h>

/* Weights of a derivative at 0 from values at -r to r, by Fornberg's recurrence (Generation of
 * Finite Difference Formulas on Arbitrarily Spaced Grids, Math. Comp. 51, 1988). c[i][k]: the
 * weight of point i for derivative k. */
static void fornberg(int r, int derivative, double (*c)[2 * AMBIT_MAX_REACH + 1])
{
  const int n = 2 * r + 1;
  double before = 1;

  memset(c, 0, (size_t)n * sizeof *c);
  c[0][0] = 1;
  for (int i = 1; i < n; i++) {
    double product = 1;
    const double x = i - r, last = i - 1 - r;

    for (int j = 0; j < i; j++) {
      const double gap = i - j;

      product *= gap;
      if (j == i - 1)
        for (int k = derivative; k >= 0; k--)
          c[i][k] = before * ((k ? k * c[i - 1][k - 1] : 0) - last * c[i - 1][k]) / product;
      for (int k = derivative; k >= 0; k--)
        c[j][k] = (x * c[j][k] - (k ? k * c[j][k - 1] : 0)) / gap;
    }
    before = product;
  }
}

int ambit_coefficients(int derivative, int order, double *weights)
{
  double c[2 * AMBIT_MAX_REACH + 1][2 * AMBIT_MAX_REACH + 1];
  const int r = derivative > 0 && order > 0 ? (derivative - 1) / 2 + order / 2 : 0;

  if (r < 1 || r > AMBIT_MAX_REACH || order % 2 || !weights) return -1;
  fornberg(r, derivative, c);
  for (int i = 0; i <= r; i++) { /* the rounding errors of both sides are those of one */
    const double w = i == r && derivative % 2 ? 0 : c[2 * r - i][derivative];

    weights[2 * r - i] = w;
    weights[i] = derivative % 2 ? -w : w;
  }
  return r;
}
