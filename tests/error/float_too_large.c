// expect: the number '1e39f' is too large for a float
void f(float *v)
{
  *v = 1e39f;
}
