// expect: 'unsigned int' is not a type of the kernel language
// expect: float, double, int, unsigned char, short, long, half and bfloat
void f(float *v)
{
  unsigned int n = 1;
  *v = n;
}
