// expect: 'p' has no component 3
// expect: 0 to 2
void f(const float *p[3], float *v)
{
  for (int i = 0; i <= 3; i++)
    *v = *p[i];
}
