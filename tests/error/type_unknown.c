// expect: 'size_t' is not a type
void f(float *v)
{
  size_t n = 1;
  *v = n;
}
