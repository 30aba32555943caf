// expect: the offset of 'u' is not a constant
void f(const float *u, const int *d, float *v)
{
  *v = u[*d][0];
}
