// expect: 'f' folds the values of a reduction, and uses a place
static long f(long a, long b)
{
  return a + b * index(0);
}

void k(fold(f, 0) long *r)
{
  *r = 1;
}
