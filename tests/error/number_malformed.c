// expect: the number '12ab' has invalid letters
void f(float *v)
{
  *v = 12ab;
}
