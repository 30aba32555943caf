// expect: 'return' is not allowed in a kernel
void f(float *v)
{
  *v = 1;
  return 0;
}
