// expect: the reduction 'r' has no neighbours
// expect: write *r[0]
void f(const float *u, sum float *r[3])
{
  *r[0][1] = *u;
}
