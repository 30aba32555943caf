/* says: a loop variable is multiplied in the subscript */
int main(void)
{
  static double u[10000], v[100];
#pragma ambit
  for (int i = 0; i < 100; i++)
    v[i] = u[i * i];
  return (int)v[0];
}
