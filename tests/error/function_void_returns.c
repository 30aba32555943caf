// expect: 'f' returns void
static void f(float a[1])
{
  a[0] = 1;
  return 1;
}

void k(float *v)
{
  float a[1];

  f(a);
  *v = a[0];
}
