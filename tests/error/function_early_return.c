// expect: 5:5: error: a return that is not the last statement of 'f'
static float f(float x)
{
  if (x > 0)
    return x;
  return 0;
}

void k(const float *u, float *v)
{
  *v = f(*u);
}
