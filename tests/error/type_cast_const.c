// expect: 'real' is not a type
void f(const int *u, float *v)
{
  *v = (const real)*u;
}
