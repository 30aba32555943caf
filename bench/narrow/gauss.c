/* SPDX-License-Identifier: BSD-3-Clause */
void gauss(const unsigned char *a, unsigned char *b)
{
  *b = (a[-1][-1] + 2 * a[-1][0] + a[-1][1] + 2 * a[0][-1] + 4 * *a + 2 * a[0][1] + a[1][-1] +
        2 * a[1][0] + a[1][1]) /
       16;
}
