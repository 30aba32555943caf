// expect: 'real' is not a type
// expect: did you mean 'float'?
void f(const float *u, float *v)
{
  const real k = 2;
  *v = k * *u;
}
