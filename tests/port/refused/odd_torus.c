/* says: may be an element that this nest writes */
int main(void)
{
  static double u[23][26];
#pragma ambit
  for (int i = 0; i < 23; i++)
    for (int j = 1; j < 25; j++)
      if ((i + j) % 2 == 0) u[i][j] = u[(i + 1) % 23][j] + u[i][j + 1];
  return (int)u[9][9];
}
