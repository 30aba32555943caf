// expect: 't' is an array with 1 subscript, but has 0 here
void f(float *v)
{
  const int t[3] = {1, 2, 3};
  *v = t;
}
