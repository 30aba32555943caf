// expect: 't' is already declared here, at line 4
void f(float *v)
{
  float t = 1;
  int t = 2;
  *v = t;
}
