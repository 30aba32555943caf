// expect: kernels have no structures
void f(const float *u, float *v)
{
  *v = u.x;
}
