void f(const float *p[2 + 1], float *q[3])
{
  for (int i = 2; i >= 0; i = i - 1) q[i][0] = p[i][1] - p[2 - i][-1];
}
