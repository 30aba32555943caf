// expect: 'f' cannot fold values of 'r'
// expect: static float f(float a, float b)
static float f(float a, double b)
{
  return a + b;
}

void k(fold(f, 0) float *r)
{
  *r = 1;
}
