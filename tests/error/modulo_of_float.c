// expect: '%' cannot be done with a float
// expect: fmod
void f(const float *u, float *v)
{
  *v = *u % 2;
}
