// expect: 4:3: error: 'u' is const and cannot be changed
void f(const float *u, float *v)
{
  u[0][1] = *u;
  *v = 1;
}
