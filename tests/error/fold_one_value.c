// expect: 'f' cannot fold values of 'r'
static float f(float a)
{
  return a;
}

void k(fold(f, 0) float *r)
{
  *r = 1;
}
