// expect: a kernel has no strings
void f(float *v)
{
  *v = "abc";
}
