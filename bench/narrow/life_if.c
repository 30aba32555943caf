/* SPDX-License-Identifier: BSD-3-Clause */
void life(const unsigned char *a, unsigned char *b)
{
  int n = a[-1][-1] + a[-1][0] + a[-1][1] + a[0][-1] + a[0][1] + a[1][-1] + a[1][0] + a[1][1];

  if (*a) {
    if (n < 2 || n > 3)
      *b = 0;
    else
      *b = 1;
  } else {
    *b = n == 3 ? 1 : 0;
  }
}
