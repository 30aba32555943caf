// expect: the offset of 'u' is not a constant
void f(const float *u, float *v, table int k[3])
{
  *v = u[k[0]];
}
