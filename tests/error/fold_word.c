// expect: 'reduce' is not a reduction
// expect: fold(f, 0) float *r
static float f(float a, float b)
{
  return a + b;
}

void k(reduce(f, 0) float *r)
{
  *r = 1;
}
