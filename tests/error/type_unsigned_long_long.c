// expect: 'unsigned long long' is not a type of the kernel language
// expect: the same with unsigned, unsigned char, half and bfloat; did you mean 'unsigned long'?
void f(float *v)
{
  unsigned long long n = 1;
  *v = n;
}
