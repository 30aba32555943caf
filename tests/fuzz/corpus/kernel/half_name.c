void k(const float *u, float *v)
{
  float half = 0.5f;
  *v = half * *u;
}
