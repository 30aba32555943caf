/* says: the nest writes at several places */
int main(void)
{
  static double u[100][100];
#pragma ambit
  for (int i = 0; i < 100; i++) {
    u[i][0] = u[i][1];
    u[0][i] = u[1][i];
  }
  return (int)u[9][9];
}
