// expect: there is no axis 2
void f(const float *u, float *v)
{
  *v = u[0][1] + index(2);
}
