/* exit: 1 */
/* says: use of undeclared identifier 'n' */
int main(void)
{
  static double u[100];
#pragma ambit
  for (int i = 1; i < n; i++)
    u[i] = 1;
  return (int)u[9];
}
