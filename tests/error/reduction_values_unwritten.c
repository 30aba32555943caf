// expect: the reduction 'r[1]' is never written
void f(const float *u, sum float *r[2])
{
  *r[0] = *u;
}
