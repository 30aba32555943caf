/* says: u[i - 1] is written by this nest: cells depend on their order */
int main(void)
{
  static double u[100];
#pragma ambit
  for (int i = 1; i < 100; i++)
    u[i] += u[i - 1];
  return (int)u[99];
}
