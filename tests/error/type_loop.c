// expect: 'size_t' is not a type
// expect: did you mean 'unsigned long'?
void f(float *v)
{
  *v = 0;
  for (size_t i = 0; i < 3; i++)
    *v += i;
}
