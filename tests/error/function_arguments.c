// expect: f takes 2 arguments, but has 1 here
static float f(float a, float b)
{
  return a + b;
}

void k(const float *u, float *v)
{
  *v = f(*u);
}
