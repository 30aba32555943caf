// expect: the reduction 'r' has no neighbours
void f(sum float *r)
{
  *r = r[1];
}
