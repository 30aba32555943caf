// expect: a subscript of 'u' is a double; it must be an integer
void f(const float *u, float *v)
{
  *v = u[1.0];
}
