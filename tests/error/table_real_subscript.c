// expect: a subscript of 'k' is a float; it must be an integer
void f(const float *u, float *v, table float k[3])
{
  *v = k[*u];
}
