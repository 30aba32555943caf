// expect: the table 'k' has no size
void f(const float *u, float *v, table float k)
{
  *v = *u;
}
