// expect: 't' does not say its size
void f(float *v)
{
  float t[];
  *v = 1;
}
