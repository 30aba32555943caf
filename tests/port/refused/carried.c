/* says: 's' carries a value from one cell to the next */
int main(void)
{
  static double v[100], u[100];
  double s = 0;
#pragma ambit
  for (int i = 0; i < 100; i++) {
    s = 0.5 * s + u[i];
    v[i] = s;
  }
  return (int)v[0];
}
