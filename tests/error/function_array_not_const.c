// expect: the array 'a' is not const
static float f(float a[3])
{
  return a[0];
}

void k(float *v)
{
  *v = 1;
}
