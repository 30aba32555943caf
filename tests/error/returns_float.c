// expect: a kernel starts with void
float f(const float *u)
{
  return *u;
}
