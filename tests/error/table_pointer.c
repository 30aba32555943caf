// expect: a table is not a pointer
// expect: table float k[3][3]
void f(const float *u, float *v, table float *k)
{
  *v = *u;
}
