// expect: '<<' cannot be applied to a double
void f(double *v)
{
  *v <<= 2;
}
