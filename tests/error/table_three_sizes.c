// expect: the table 'k' has more than two sizes
void f(const float *u, float *v, table float k[2][2][2])
{
  *v = *u;
}
