// expect: the size of 't' is missing
void f(float *v)
{
  float t[];
  *v = 1;
}
