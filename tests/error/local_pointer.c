// expect: kernels have no local pointers
void f(float *v)
{
  float *w = v;
  *w = 1;
}
