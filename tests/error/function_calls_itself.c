// expect: unknown function 'f'
// expect: static functions that stand before it
static int f(int n)
{
  return n > 0 ? n * f(n - 1) : 1;
}

void k(int *v)
{
  *v = f(3);
}
