/* Parameters of variable extent, row pointers, a row of coefficients that the host changes. */
#include "show.h"
#include <stdlib.h>
static void sweep(int n, int m, double u[restrict n][m], double v[restrict n][m],
                  const double *restrict c)
{
  for (int i = 1; i < n - 1; ++i) {
    const double *up = u[i - 1], *mid = u[i], *dn = u[i + 1];
    double ci = c[i] * 0.5;
    for (int j = 1; j < m - 1; ++j)
      v[i][j] = ci * (up[j] + dn[j]) + 0.25 * (mid[j - 1] + mid[j + 1]);
  }
}
int main(void)
{
  int n = 25, m = 31;
  double(*u)[m] = malloc(sizeof(double[n][m])), (*v)[m] = malloc(sizeof(double[n][m])), c[n];
  for (int i = 0; i < n; i++) {
    c[i] = 1.0 / (i + 1);
    for (int j = 0; j < m; j++)
      u[i][j] = v[i][j] = (i ^ j) * 0.5;
  }
#pragma ambit
  for (int t = 0; t < 6; t++) {
    sweep(n, m, u, v, c);
    sweep(n, m, v, u, c);
    c[3] += 0.125;
  }
  show("u", u, sizeof(double[n][m]));
  show("v", v, sizeof(double[n][m]));
  free(u);
  free(v);
  return 0;
}
