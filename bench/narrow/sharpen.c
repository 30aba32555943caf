/* SPDX-License-Identifier: BSD-3-Clause */
void sharpen(const unsigned char *a, unsigned char *b)
{
  int s = 5 * *a - a[-1][0] - a[1][0] - a[0][-1] - a[0][1];

  if (s < 0)
    s = 0;
  else if (s > 255)
    s = 255;
  *b = s;
}
