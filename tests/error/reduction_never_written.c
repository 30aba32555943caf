// expect: the reduction 'r' is never written
void f(float *v, sum float *r)
{
  *v = 1;
}
