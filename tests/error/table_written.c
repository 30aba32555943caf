// expect: 'k' is a table and cannot be changed
void f(const float *u, float *v, table float k[3])
{
  k[0] = 1; *v = *u;
}
