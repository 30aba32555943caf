// expect: 'f' is already declared
static float f(float x)
{
  return x;
}

static float f(float x)
{
  return 2 * x;
}

void k(float *v)
{
  *v = f(1);
}
