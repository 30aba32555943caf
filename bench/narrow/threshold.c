/* SPDX-License-Identifier: BSD-3-Clause */
void threshold(const unsigned char *a, unsigned char *b)
{
  float mean = (a[-1][0] + a[1][0] + a[0][-1] + a[0][1]) * 0.25f;

  *b = *a > mean ? 255 : 0;
}
