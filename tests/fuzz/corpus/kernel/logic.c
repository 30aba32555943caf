void l(const float *u, float *v)
{
  *v = !*u || *u && (*u > 1 ? *u < 2 : *u != 3) ? 1.0f : -0.0f;
  *v = 1 && *u;
  *v = 0 || (int)*u;
}
