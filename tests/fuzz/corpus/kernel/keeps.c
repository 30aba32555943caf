void f(float *a, float *b, const int *m)
{
  float t;
  if (*m) { t = 1; *a = 2; } else t = 3;
  *b = *b * t;
}
