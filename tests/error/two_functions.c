// expect: unexpected text after the kernel
// expect: one kernel
void f(float *v)
{
  *v = 1;
}

void g(float *v)
{
  *v = 2;
}
