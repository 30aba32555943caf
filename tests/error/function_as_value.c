// expect: 'sqrt' is a function
void f(float *v)
{
  *v = sqrt;
}
