// expect: 'return' has no place in a kernel
void f(float *v)
{
  *v = 1;
  return 0;
}
