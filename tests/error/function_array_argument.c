// expect: 'a' takes an array here
static float f(const float a[3])
{
  return a[0];
}

void k(const float *u, float *v)
{
  *v = f(*u);
}
