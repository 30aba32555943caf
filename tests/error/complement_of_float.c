// expect: '~' cannot be applied to a float
void f(const float *u, float *v)
{
  *v = ~*u;
}
