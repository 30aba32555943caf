// expect: 'avg' is no reduction
// expect: sum, min or max
void f(avg float *r)
{
  *r = 1;
}
