// expect: 3:14: error: 'single' is not a type of the kernel language
// expect: the types are float, double, int, short, long, the same with unsigned, unsigned char, half and bfloat; did you mean 'float'?
void f(const single *u, float *v)
{
  *v = *u;
}
