// expect: 'single' is not a type
// expect: did you mean 'float'?
void f(const float *u, float *v)
{
  const single k = 2;
  *v = k * *u;
}
