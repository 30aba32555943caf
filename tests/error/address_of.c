// expect: kernels have no addresses
void f(float *v)
{
  *v = &v;
}
