// expect: 'unsigned int' is no type of the kernel language
// expect: float, double, int, unsigned char, short and long
void f(float *v)
{
  unsigned int n = 1;
  *v = n;
}
