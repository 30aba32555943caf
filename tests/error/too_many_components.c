// expect: 'p' has 5000 components; it can have 1 to 4096
void f(const float *p[5000], float *v)
{
  *v = *p[0];
}
