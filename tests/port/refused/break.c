/* says: the nest ends early: break */
int main(void)
{
  static double v[100], u[100];
#pragma ambit
  for (int i = 0; i < 100; i++) {
    v[i] = u[i];
    if (u[i] > 3) break;
  }
  return (int)v[0];
}
