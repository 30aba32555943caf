/* says: 'x' may be used after the nest */
int main(void)
{
  static double v[100], u[100];
  double x;
#pragma ambit
  for (int i = 0; i < 100; i++) {
    x = u[i] * 2;
    v[i] = x;
  }
  return (int)x;
}
