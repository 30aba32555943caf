// expect: 't' is const and cannot be changed
void f(float *v)
{
  const float t = 1;
  t = 2;
  *v = t;
}
