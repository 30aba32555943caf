void k(const float *u, sum double *e[3], table float t[2], max int *m[2])
{
  for (int i = 0; i < 3; i++)
    *e[i] = u[i - 1] * t[i % 2];
  *e[2] += *e[1] + normal(0);
  *m[0] = 1;
  *m[1] = *m[0];
}
