/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that run steps, in expressions that use the same arrays before and after them. */
#include "show.h"

#include <math.h>

static double u[40], v[40];

static double largest(const double *p)
{
  double m = 0;

#pragma ambit must
  for (int i = 0; i < 40; i++)
    m = fmax(m, p[i]);
  return m;
}

static double shift(void)
{
#pragma ambit must
  for (int i = 0; i < 39; i++)
    v[i] = u[i + 1];
#pragma ambit must
  for (int i = 0; i < 40; i++)
    u[i] = v[i] * 0.75;
  return 1;
}

static void quiet(void)
{
  shift();
}

int main(void)
{
  int rounds = 0;

  for (int i = 0; i < 40; i++)
    u[i] = i % 7;
  shift();
  for (int t = 0; t < 3; t++) {
    u[3] = largest(u) + 1;
#pragma ambit must
    for (int i = 0; i < 40; i++)
      v[i] = u[i] + 1;
    u[5] += largest(v);
    double x = shift(), y = u[7];
    if (shift() > 0 && u[2] > 0.5) u[1] = 9;
    printf("%g %g\n", x, y);
    quiet(), u[4] = u[3] + 1;
    while (largest(u) < 1000 && u[3] < 100 && ++rounds < 50)
      u[6] = 2 * shift() + u[6];
    for (int k = 0; shift() > 0 && u[k] > 3 && k < 4; k++)
      u[k] -= 3;
    switch ((int)u[2]) {
    case 0: u[8] = shift(); break;
    default: shift();
    }
    printf("%g %g\n", u[1], (shift(), u[2]));
  }
  show("u", u, sizeof u);
  show("v", v, sizeof v);
  return 0;
}
