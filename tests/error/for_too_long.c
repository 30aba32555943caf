// expect: the kernel is too long here
// expect: after unrolling
void f(float *v)
{
  for (int i = 0; i < 1000000; i++)
    *v = i;
}
