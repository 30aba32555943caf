/* says: an array of a type that kernels do not know */
int main(void)
{
  static long double u[100];
#pragma ambit
  for (int i = 0; i < 100; i++)
    u[i] = u[i] * 2;
  return (int)u[0];
}
