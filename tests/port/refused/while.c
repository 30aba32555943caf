/* says: a while loop inside the nest: how often it runs is not known */
int main(void)
{
  static double u[100];
#pragma ambit
  for (int i = 0; i < 100; i++) {
    double x = i;
    while (x > 1)
      x /= 2;
    u[i] = x;
  }
  return (int)u[9];
}
