// expect: 'goto' has no place in a kernel
void f(float *v)
{
  goto end;
}
