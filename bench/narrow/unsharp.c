/* SPDX-License-Identifier: BSD-3-Clause */
void unsharp(const unsigned char *a, unsigned char *b)
{
  float blur = (a[-1][-1] + 2 * a[-1][0] + a[-1][1] + 2 * a[0][-1] + 4 * *a + 2 * a[0][1] +
                a[1][-1] + 2 * a[1][0] + a[1][1]) /
               16.0f;
  float s = *a + 0.75f * (*a - blur) + 0.5f;

  *b = (unsigned char)fmaxf(0.0f, fminf(s, 255.0f));
}
