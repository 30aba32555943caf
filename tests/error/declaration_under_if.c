// expect: put braces around it
void f(const float *u, float *v)
{
  *v = 1;
  if (*u)
    float t = 1;
}
