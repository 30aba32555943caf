// expect: a subscript of 'w' is a half; it must be an integer
void f(const half *u, half *v)
{
  float w[2] = {1, 2};
  *v = w[(half)1] * *u;
}
