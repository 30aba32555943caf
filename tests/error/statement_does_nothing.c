// expect: this statement does nothing
void f(float *v)
{
  *v == 1;
}
