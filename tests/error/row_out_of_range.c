// expect: 'a' has no row 2
// expect: its rows are 0 to 1
static float f(const float row[3])
{
  return row[0];
}

void k(float *v)
{
  const float a[2][3] = {{1, 2, 3}, {4, 5, 6}};

  *v = f(a[2]);
}
