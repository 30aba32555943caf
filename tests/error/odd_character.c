// expect: this is no part of the kernel language
void f(float *v)
{
  *v = 1 @ 2;
}
