/* SPDX-License-Identifier: BSD-3-Clause */
void erode(const unsigned char *a, unsigned char *b)
{
  unsigned char m = *a;

  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++)
      if (a[i][j] < m) m = a[i][j];
  *b = m;
}
