/* SPDX-License-Identifier: BSD-3-Clause */
void sobel(const short *a, short *b)
{
  int gx = a[-1][1] + 2 * a[0][1] + a[1][1] - a[-1][-1] - 2 * a[0][-1] - a[1][-1];
  int gy = a[1][-1] + 2 * a[1][0] + a[1][1] - a[-1][-1] - 2 * a[-1][0] - a[-1][1];
  float m = sqrtf((float)gx * gx + (float)gy * gy);

  *b = (short)(m < 32767.0f ? m : 32767.0f);
}
