/* SPDX-License-Identifier: BSD-3-Clause */
/* says: 's' carries a value from one cell to the next */
/* says: 'm' carries a value from one cell to the next */
/* says: 'any' carries a value from one cell to the next */
/* says: 'counter' carries a value from one cell to the next */
/* says: 'total' carries a value from one cell to the next */
#include <math.h>

double u[8][8], v[8][8], total;
int w[8][8], counter;

static int next(void)
{
  return ++counter;
}

static double add(double x)
{
  return total += x;
}

double f(void)
{
  double s = 0, m = 0;
  int any = 0;

#pragma ambit
  {
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++)
        v[i][j] = (s += u[i][j]);
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++)
        v[i][j] = m = fmax(m, u[i][j]);
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++)
        w[i][j] = (any |= u[i][j] > 8);
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++)
        w[i][j] = next();
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++)
        v[i][j] = add(u[i][j]);
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++)
        if ((s += u[i][j]) > 3) v[i][j] = 1;
  }
  return s + m + any;
}
