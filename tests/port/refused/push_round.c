/* says: the element that is written is chosen by a guard or a table */
int main(void)
{
  static double u[100], v[100];
#pragma ambit
  for (int i = 0; i < 100; i++)
    u[i == 99 ? 0 : i + 1] = v[i];
  return (int)u[0];
}
