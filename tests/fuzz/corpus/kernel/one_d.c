void w(const float *a, const float *b, float *c)
{
  *c = 2 * *b - *a + 0.25f * (b[-1] - 2 * b[0] + b[1]);
}
