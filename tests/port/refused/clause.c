/* exit: 1 */
/* says: error: there is no clause 'mist' */
/* says: must, serial, sum(any) */
int main(void)
{
  static double u[100];
#pragma ambit mist
  for (int i = 1; i < 100; i++)
    u[i] = 1;
  return (int)u[99];
}
