void odd(float *f[3], float *g, const unsigned char *solid, float omega)
{
  const int c[3] = {0, 1, -1}, back[3] = {0, 2, 1};
  float h[3], mean = 0;
  for (int i = 0; i < 3; i++) {
    h[i] = outside(0, -c[i]) ? 0 : f[back[i]][0][-c[i]];
    mean += h[i] / 3;
  }
  for (int i = 0; i < 3; i++)
    if (!*solid && !outside(0, c[i])) f[i][0][c[i]] = h[i] + omega * (mean - h[i]);
  g[-1][0] += g[-1][0];
}
