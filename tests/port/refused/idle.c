/* SPDX-License-Identifier: BSD-3-Clause */
/* says: idle.c:6:1: note: this directive has no effect: no loop, block or function follows */
/* says: idle.c:12:1: note: this directive has no effect */
/* says: idle.c:16:1: note: this directive has no effect */
double u[64];
#pragma ambit
double v[64];
double f(void)
{
  double s = 0;

#pragma ambit
  double x = 1;
  for (int i = 0; i < 64; i++) {
    s += u[i] * x;
#pragma ambit
  }
  for (int i = 0; i < 64; i++)
    v[i] = s;
  return s;
}
