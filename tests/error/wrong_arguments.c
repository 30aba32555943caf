// expect: fmin takes 2 arguments, and has 1 here
void f(float *v)
{
  *v = fmin(1.0);
}
