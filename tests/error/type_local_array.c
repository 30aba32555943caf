// expect: 'int32_t' is not a type
// expect: did you mean 'int'?
void f(float *v)
{
  int32_t w[3] = {1, 2, 3};
  *v = w[0];
}
