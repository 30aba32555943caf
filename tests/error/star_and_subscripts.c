// expect: 'u' has a '*' and subscripts
void f(const float *u, float *v)
{
  *v = *u[1];
}
