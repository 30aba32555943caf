// expect: 'k' is a bfloat
// expect: a plain value is float: float k
void f(const bfloat *u, bfloat *v, bfloat k)
{
  *v = k * *u;
}
