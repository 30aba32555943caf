void r(const float *u, sum double *s, min float *a, max float *b)
{
  *s += *u;
  *a = fminf(*a, *u);
  if (*u > *b) *b = *u;
}
