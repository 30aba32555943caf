// expect: the function 'sqrt' is used without arguments
void f(float *v)
{
  *v = sqrt;
}
