// expect: unexpected text after the kernel
void k(float *v)
{
  *v = 1;
}

static float f(float x)
{
  return x;
}
