// expect: the offset of 'outside' is not a constant
void k(const float *u, float *v, int n)
{
  *v = outside(n) ? 0 : u[1];
}
