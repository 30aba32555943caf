/* SPDX-License-Identifier: BSD-3-Clause */
void sobel(const unsigned char *a, unsigned char *b)
{
  int gx = a[-1][1] + 2 * a[0][1] + a[1][1] - a[-1][-1] - 2 * a[0][-1] - a[1][-1];
  int gy = a[1][-1] + 2 * a[1][0] + a[1][1] - a[-1][-1] - 2 * a[-1][0] - a[-1][1];
  float m = sqrtf((float)(gx * gx + gy * gy));

  *b = (unsigned char)(m > 255.0f ? 255.0f : m);
}
