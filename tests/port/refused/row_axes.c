/* SPDX-License-Identifier: BSD-3-Clause */
/* says: rows of 'a' lie along another axis than those that are written */
/* says: the rows of 'g' are found by pointers that are not in a table of their own */
struct row {
  int n;
  double *u;
} g[20];

void f(double **a, double **b)
{
#pragma ambit
  for (int i = 1; i < 19; i++)
    for (int j = 1; j < 19; j++)
      b[i][j] = a[j][i];
#pragma ambit
  for (int i = 1; i < 19; i++)
    for (int j = 1; j < 19; j++)
      g[i].u[j] = 1;
}
