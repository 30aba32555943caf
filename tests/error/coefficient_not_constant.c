// expect: the order of 'coefficient' is not a constant
void f(const float *u, float *v, int order)
{
  *v = coefficient(2, order, 0) * *u;
}
