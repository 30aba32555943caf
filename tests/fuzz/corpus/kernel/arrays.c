void a(const float *u, float *v)
{
  const float w[2][3] = {{1, 2, 3}, {4, 5}};
  float t[2][2] = {1, 2, *u, 4};
  const int k[] = {1, -1};
  t[1][0] *= w[1][2];
  *v = t[0][0] + t[1][0] * u[k[0]][k[1]] + w[0][1];
}
