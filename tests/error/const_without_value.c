// expect: 't' is const but has no value
void f(float *v)
{
  const float t;
  *v = 1;
}
