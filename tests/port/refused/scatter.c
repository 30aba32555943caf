/* says: the subscript is not linear in the loop variables */
int main(void)
{
  static double u[100], v[100];
  static int to[100];
#pragma ambit
  for (int i = 0; i < 100; i++)
    u[to[i]] = v[i];
  return (int)u[0];
}
