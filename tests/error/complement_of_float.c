// expect: '~' cannot be done with a float
void f(const float *u, float *v)
{
  *v = ~*u;
}
