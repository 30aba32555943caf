// expect: 6:3: error: v[0][0] is written here, and v[0][1] elsewhere in the kernel
// expect: a component of a field is written at one offset
void f(float *v)
{
  v[0][1] = 1;
  *v = 2;
}
