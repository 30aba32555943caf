// expect: does not fit in a long
// expect: UL after it
void f(unsigned long *v)
{
  *v = 18446744073709551615;
}
