// expect: 't' is used in its own first value
void f(float *v)
{
  float t = t + 1;
  *v = t;
}
