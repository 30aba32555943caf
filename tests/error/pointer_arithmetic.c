// expect: not as *(u + 1)
void f(const float *u, float *v)
{
  *v = *(u + 1);
}
