/* SPDX-License-Identifier: BSD-3-Clause */
void sobel(const unsigned char *a, unsigned char *b)
{
  float gx = a[-1][1] + 2.0f * a[0][1] + a[1][1] - a[-1][-1] - 2.0f * a[0][-1] - a[1][-1];
  float gy = a[1][-1] + 2.0f * a[1][0] + a[1][1] - a[-1][-1] - 2.0f * a[-1][0] - a[-1][1];

  *b = fminf(hypotf(gx, gy), 255);
}
