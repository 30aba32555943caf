// expect: '&' cannot be applied to a half
void f(const half *u, half *v)
{
  *v = *u & 1;
}
