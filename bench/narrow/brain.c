/* SPDX-License-Identifier: BSD-3-Clause */
/* Brian's brain: 0 is ready, 1 fires, 2 rests */
void brain(const unsigned char *a, unsigned char *b)
{
  int firing = 0;

  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++)
      if (i || j) firing += a[i][j] == 1;
  if (*a == 1)
    *b = 2;
  else if (*a == 2)
    *b = 0;
  else
    *b = firing == 2;
}
