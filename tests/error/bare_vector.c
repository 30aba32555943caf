// expect: 'p' has several components
void f(const float *p[3], float *v)
{
  *v = *p;
}
