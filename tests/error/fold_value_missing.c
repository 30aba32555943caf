// expect: 'c' is read before it has a value
static int f(int a, int b)
{
  int c;

  if (a > b) c = a;
  return c;
}

void k(fold(f, 0) int *r)
{
  *r = 1;
}
