// expect: 'k' is a half
// expect: a plain value is float: float k
void f(const half *u, half *v, half k)
{
  *v = k * *u;
}
