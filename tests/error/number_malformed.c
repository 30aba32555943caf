// expect: the number '12ab' has letters in it
void f(float *v)
{
  *v = 12ab;
}
