// expect: '%' cannot be applied to a float
// expect: fmod
void f(const float *u, float *v)
{
  *v = *u % 2;
}
