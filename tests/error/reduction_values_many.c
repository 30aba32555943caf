// expect: a kernel has at most 32 parameters, and each value of 'r' counts as one
void f(const float *u, sum float *r[32])
{
  for (int i = 0; i < 32; i++) *r[i] = *u;
}
