void life(const unsigned char *a, unsigned char *b)
{
  int n = 0;
  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++)
      if (i || j) n += a[i][j];
  *b = n == 3 || (*a && n == 2);
}
