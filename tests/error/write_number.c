// expect: this cannot be assigned to
void f(float *v)
{
  *v = 1;
  3 = *v;
}
