// expect: the number of components of 'p' is missing
void f(const float *p[], float *v)
{
  *v = *p[0];
}
