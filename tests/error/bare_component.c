// expect: a component of 'p' is no value yet
void f(const float *p[3], float *v)
{
  *v = p[1];
}
