// expect: the subscript of 't' is not a constant
void f(float *v, int k)
{
  const int t[2] = {1, 2};
  *v = t[k];
}
