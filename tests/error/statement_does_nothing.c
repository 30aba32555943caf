// expect: this statement has no effect
void f(float *v)
{
  *v == 1;
}
