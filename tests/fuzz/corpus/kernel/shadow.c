void s(const float *u, float *v)
{
  float t = *u;
  {
    float t = 2;
    for (int t = 0; t < 2; t++) { float exp = t; *v = exp; }
    *v += t;
  }
  *v += t;
}
