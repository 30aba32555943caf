// expect: the function 'f' is used without arguments
static float f(float x)
{
  return x;
}

void k(float *v)
{
  *v = f + 1;
}
