// expect: the type is missing after const
void f(const *u, float *v)
{
  *v = *u;
}
