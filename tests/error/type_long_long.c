// expect: 'long long' is not a type
void f(long long *v)
{
  *v = 1;
}
