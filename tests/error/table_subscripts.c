// expect: 'k' is a table with 2 subscripts, but has 1 here
void f(const float *u, float *v, table float k[3][3])
{
  *v = k[1] * *u;
}
