/* says: this loop is neither over cells nor over a small number known here */
int main(void)
{
  static double u[100], v[100][100];
#pragma ambit
  for (int i = 1; i < 100; i++)
    for (int j = 0; j < 100; j++)
      u[i] = v[i][j];
  return (int)u[99];
}
