// expect: 'u' is const and cannot be changed
void f(const float *u, float *v)
{
  *v = 1;
  *u = 2;
}
