// expect: 'k' is no function
void f(float *v, float k)
{
  *v = k(2);
}
