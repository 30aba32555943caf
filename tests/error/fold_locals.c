// expect: 'f' has 102 locals
// expect: at most 64
static int f(int a, int b)
{
  int c[100];

  for (int i = 0; i < 100; i++)
    c[i] = a + i;
  return c[3] | b;
}

void k(fold(f, 0) int *r)
{
  *r = 1;
}
