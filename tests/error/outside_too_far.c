// expect: the offset 2000 of 'outside' is too far
void k(const float *u, float *v)
{
  *v = outside(2000) ? 0 : u[1];
}
