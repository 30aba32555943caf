// expect: 'real' is not a type
void f(const float *u, sum real *r)
{
  *r = *u;
}
