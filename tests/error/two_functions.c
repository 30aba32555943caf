// expect: there are two kernels 'f', the first at line 2
void f(float *v)
{
  *v = 1;
}

void f(float *v)
{
  *v = 2;
}
