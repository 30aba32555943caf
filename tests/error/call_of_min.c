// expect: unknown function 'min'
// expect: fminf(x, y)
void f(const float *u, float *v)
{
  *v = min(*u, 1);
}
