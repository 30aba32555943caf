void e(const int *u, int *v)
{
  if (*u < 0) *v = -1; else if (*u > 0) { *v = 1; } else ;
}
