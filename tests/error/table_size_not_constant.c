// expect: unknown name 'n'
void f(const float *u, float *v, table float k[n], int n)
{
  *v = *u;
}
