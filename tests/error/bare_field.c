// expect: 'u' is a field, not a value
// expect: write *u
void f(const float *u, float *v)
{
  *v = u;
}
