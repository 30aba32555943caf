// expect: the table 'k' has 0 elements
void f(const float *u, float *v, table float k[0])
{
  *v = *u;
}
