/* SPDX-License-Identifier: BSD-3-Clause */
void mean(const unsigned char *a, unsigned char *b)
{
  float sum = 0;

  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++)
      sum += a[i][j];
  *b = (unsigned char)(sum / 9.0f + 0.5f);
}
