// expect: this is not part of the kernel language
void f(float *v)
{
  *v = 1 @ 2;
}
