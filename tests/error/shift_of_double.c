// expect: '<<' cannot be done with a double
void f(double *v)
{
  *v <<= 2;
}
