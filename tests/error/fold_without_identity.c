// expect: before the identity: fold(f, 0) float *r
static float f(float a, float b)
{
  return a + b;
}

void k(fold(f) float *r)
{
  *r = 1;
}
