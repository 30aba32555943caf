/* SPDX-License-Identifier: BSD-3-Clause */
/* of five, by three comparators and the median of three */
static int lower(int x, int y)
{
  return x < y ? x : y;
}
static int upper(int x, int y)
{
  return x < y ? y : x;
}

void median(const unsigned char *a, unsigned char *b)
{
  int n = a[-1][0], w = a[0][-1], e = a[0][1], s = a[1][0];
  int low = upper(lower(n, w), lower(e, s)), high = lower(upper(n, w), upper(e, s));
  int c = *a, mid = lower(upper(c, low), high);

  *b = low < high ? mid : upper(lower(c, low), high);
}
