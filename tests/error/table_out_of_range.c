// expect: 'k' has no element 4
// expect: its elements are 0 to 3
void f(const float *u, float *v, table float k[3][4])
{
  *v = k[2][4];
}
