/* SPDX-License-Identifier: BSD-3-Clause */
static int larger(int x, int y)
{
  return x > y ? x : y;
}

void dilate(const unsigned char *a, unsigned char *b)
{
  int m = *a;

  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++)
      m = larger(m, a[i][j]);
  *b = m;
}
