// expect: there are more values than 't' has room for, which is 2
void f(float *v)
{
  const int t[2] = {1, 2, 3};
  *v = t[0];
}
