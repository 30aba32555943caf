// expect: there is no central difference for derivative 2 of order 3
void f(const float *u, float *v)
{
  *v = coefficientf(2, 3, 0) * *u;
}
