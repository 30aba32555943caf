// expect: 'avg' is not a reduction
// expect: sum, min or max
void f(avg float *r)
{
  *r = 1;
}
