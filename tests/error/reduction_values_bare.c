// expect: the reduction 'r' has several values
// expect: *r[0] is the first one
void f(const float *u, sum float *r[3])
{
  *r = *u;
}
