// expect: 'real' is not a type
// expect: did you mean 'float'?
void f(const int *u, float *v)
{
  *v = (real)u[1] / 2;
}
