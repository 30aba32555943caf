// expect: 'single' is not a type
void f(const float *u, float *v)
{
  single *p = u;
  *v = *p;
}
