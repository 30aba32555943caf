/* says: an operation on unsigned long numbers */
int main(void)
{
  static double u[100];
  unsigned long n = 3;
#pragma ambit
  for (int i = 0; i < 100; i++)
    u[i] = u[i] * (n % 2);
  return (int)u[9];
}
