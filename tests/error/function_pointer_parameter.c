// expect: a function takes values and arrays, no pointers
static float f(const float *u)
{
  return u[1];
}

void k(const float *u, float *v)
{
  *v = f(u);
}
