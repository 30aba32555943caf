// expect: 'single' is not a type
void f(const float *u, sum single *r)
{
  *r = *u;
}
