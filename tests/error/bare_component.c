// expect: a component of 'p' is not a value
void f(const float *p[3], float *v)
{
  *v = p[1];
}
