// expect: the bound of 'i' is not a constant
void f(float *v, int n)
{
  for (int i = 0; i < n; i++)
    *v = i;
}
