/* SPDX-License-Identifier: BSD-3-Clause */
/* says: 'start' carries a value from one cell to the next */
/* says: compute the first cell from the row: for (i = 1 + (j + k + pass) % 2; ...; i += 2) */
double r[10][10];

void f(void)
{
  int start = 1;

#pragma ambit
  for (int j = 1; j < 9; j++) {
    for (int i = start; i < 9; i += 2)
      r[j][i] = 0.5 * (r[j - 1][i] + r[j + 1][i]);
    start = 3 - start;
  }
}
