/* exit: 1 */
/* says: error: u[i - 1] is written by this nest */
/* says: this nest must run in parallel */
int main(void)
{
  static double u[100];
#pragma ambit must
  for (int i = 1; i < 100; i++)
    u[i] = u[i - 1];
  return (int)u[99];
}
