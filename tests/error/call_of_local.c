// expect: 'k' is not a function
void f(float *v, float k)
{
  *v = k(2);
}
