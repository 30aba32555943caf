// expect: 'real' is not a type
void f(const float *u, float *v)
{
  real *p = u;
  *v = *p;
}
