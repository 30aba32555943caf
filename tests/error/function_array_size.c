// expect: the array 'b' has 2 elements, 'a' has 3
static float f(const float a[3])
{
  return a[0];
}

void k(float *v)
{
  const float b[2] = {1, 2};
  *v = f(b);
}
