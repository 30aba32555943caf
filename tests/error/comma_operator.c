// expect: kernels have no comma operator
void f(float *v)
{
  *v = 1, 2;
}
