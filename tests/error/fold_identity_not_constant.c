// expect: the identity of 'r' is not constant
static float f(float a, float b)
{
  return a + b;
}

void k(float x, fold(f, x) float *r)
{
  *r = 1;
}
