// expect: 'long long' is no type
void f(long long *v)
{
  *v = 1;
}
