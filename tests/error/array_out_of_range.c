// expect: 't' has no element 3
// expect: 0 to 2
void f(float *v)
{
  const int t[3] = {1, 2, 3};
  *v = t[3];
}
