// expect: 'u' is already declared here
void f(const float *u, float *u)
{
  *u = 1;
}
