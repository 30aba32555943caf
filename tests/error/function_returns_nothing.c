// expect: 'f' returns no value
static void f(float x)
{
  x = 1;
}

void k(const float *u, float *v)
{
  *v = f(*u);
}
