// expect: 't' is used in its own initialiser
void f(float *v)
{
  float t = t + 1;
  *v = t;
}
