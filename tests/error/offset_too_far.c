// expect: the offset 1001 of 'u' is too far
// expect: -1000 to 1000
void f(const float *u, float *v)
{
  *v = u[1001];
}
