// expect: a kernel starts with void, not 'int'
void f(float *v)
{
  *v = 1;
}

int g;
