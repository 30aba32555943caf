// expect: the reduction 'r' is not a pointer
static int f(int a, int b)
{
  return a | b;
}

void k(const int *u, fold(f, 0) int r)
{
  r = *u;
}
