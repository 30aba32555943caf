// expect: fmin takes 2 arguments, but has 1 here
void f(float *v)
{
  *v = fmin(1.0);
}
