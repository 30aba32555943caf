/* says: all cells read u[0], and the nest writes that array */
int main(void)
{
  static double u[100];
#pragma ambit
  for (int i = 1; i < 100; i++)
    u[i] = u[i] / u[0];
  return (int)u[9];
}
