// expect: 'k' is a value handed to the kernel
// expect: copy it into a local
void f(float *v, float k)
{
  k += 1;
  *v = k;
}
