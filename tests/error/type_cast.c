// expect: 'single' is not a type
// expect: did you mean 'float'?
void f(const int *u, float *v)
{
  *v = (single)u[1] / 2;
}
