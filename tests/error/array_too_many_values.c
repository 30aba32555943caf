// expect: too many values for 't', which has 2 elements
void f(float *v)
{
  const int t[2] = {1, 2, 3};
  *v = t[0];
}
