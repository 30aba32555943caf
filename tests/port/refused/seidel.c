/* says: A[i - 1][j] is written by this nest: cells depend on their order (Gauss-Seidel) */
/* says: Left serial; red-black or a second array would run in parallel */
static double A[40][40];
int main(void)
{
#pragma ambit
  for (int t = 0; t < 3; t++)
    for (int i = 1; i < 39; i++)
      for (int j = 1; j < 39; j++)
        A[i][j] = (A[i][j - 1] + A[i - 1][j] + A[i][j] + A[i + 1][j] + A[i][j + 1]) / 5.0;
  return (int)A[3][3];
}
