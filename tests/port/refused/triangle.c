/* says: a bound of the loop changes inside the nest */
int main(void)
{
  static double v[100][100];
#pragma ambit
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < i; j++)
      v[i][j] = 1;
  return (int)v[0][0];
}
