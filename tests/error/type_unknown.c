// expect: 'size_t' is no type
void f(float *v)
{
  size_t n = 1;
  *v = n;
}
