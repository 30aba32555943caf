// expect: 6:10: error: the offset of 'u' is not a constant
// expect: const locals
void f(const float *u, float *v)
{
  int n = 1;
  *v = u[n];
}
