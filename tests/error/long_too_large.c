// expect: does not fit in a long
void f(long *v)
{
  *v = 9999999999999999999L;
}
