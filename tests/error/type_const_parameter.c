// expect: 3:14: error: 'real' is not a type of the kernel language
// expect: the types are float, double, int, unsigned char, short and long; did you mean 'float'?
void f(const real *u, float *v)
{
  *v = *u;
}
