// expect: 'r' is a reduction, not a value
void f(sum float *r)
{
  *r = r;
}
