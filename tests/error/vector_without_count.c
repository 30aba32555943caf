// expect: 'p' does not say how many components it has
void f(const float *p[], float *v)
{
  *v = *p[0];
}
