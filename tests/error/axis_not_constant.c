// expect: the axis of 'index' is not a constant
void f(float *v, int k)
{
  *v = index(k);
}
