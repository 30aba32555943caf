// expect: 'goto' is not allowed in a kernel
void f(float *v)
{
  goto end;
}
