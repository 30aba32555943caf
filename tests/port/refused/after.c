/* SPDX-License-Identifier: BSD-3-Clause */
/* says: 'q' may be used after the nest */
/* says: 'p' may be used after the nest */
double u[40], v[40];

double f(void)
{
  double q = 1;
  int p = 2;

  u[2] = 3;
#pragma ambit
  for (int i = 1; i < 39; i++) {
    q = 2 * u[i];
    v[i] = q + 1;
  }
  while (p < 100) {
    u[1] = p;
#pragma ambit
    for (int i = 0; i < 39; i++) {
      p = i + 1;
      v[i] = u[p];
    }
    p *= 2;
  }
  return q;
}
