// expect: outside() has no offsets
void k(const float *u, float *v)
{
  *v = outside() ? 0 : u[1];
}
