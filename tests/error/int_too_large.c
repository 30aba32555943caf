// expect: the number '3000000000' does not fit in an int
// expect: L after it
void f(long *v)
{
  *v = 3000000000;
}
