void k(table double a[2][3], const float *u, table const int b[4], float *v)
{
  for (int i = 0; i < 3; i++)
    *v += a[1][i] * u[b[3] ? 0 : i - 1];
  *v += a[index(0) % 2][(int)*u] + b[*u > 0];
}
