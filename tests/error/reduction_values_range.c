// expect: 'r' has no component 3
// expect: its components are 0 to 2
void f(const float *u, sum float *r[3])
{
  *r[3] = *u;
}
