/* SPDX-License-Identifier: BSD-3-Clause */
void sobel(const unsigned char *a, unsigned char *b)
{
  int gx = a[-1][1] + 2 * a[0][1] + a[1][1] - a[-1][-1] - 2 * a[0][-1] - a[1][-1];
  int gy = a[1][-1] + 2 * a[1][0] + a[1][1] - a[-1][-1] - 2 * a[-1][0] - a[-1][1];

  *b = ((gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy)) >> 3;
}
