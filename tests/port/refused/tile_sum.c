/* says: 's' is added to tile by tile */
int main(void)
{
  static double u[100][100];
  double s = 0;
#pragma ambit
  for (int ii = 0; ii < 100; ii += 8)
    for (int i = ii; i < (ii + 8 < 100 ? ii + 8 : 100); i++)
      for (int j = 0; j < 100; j++)
        s += u[i][j];
  return (int)s;
}
