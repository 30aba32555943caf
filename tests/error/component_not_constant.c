// expect: the component of 'p' is not a constant
// expect: a component must be known
void f(const float *p[3], float *v, int k)
{
  *v = *p[k];
}
