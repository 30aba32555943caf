// expect: 'a' is const and cannot be changed
static void f(const float a[3])
{
  a[0] = 1;
}

void k(float *v)
{
  float a[3] = {1, 2, 3};

  f(a);
  *v = a[0];
}
