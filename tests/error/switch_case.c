// expect: 'switch' is not allowed in a kernel
// expect: use if and else
void f(float *v, int k)
{
  switch (k) { case 1: *v = 1; }
}
