// expect: there is no axis 6
void f(const float *u, float *v)
{
  *v = normal(6);
}
