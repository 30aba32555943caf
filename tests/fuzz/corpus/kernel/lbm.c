void lbm(const float *f[9], float *g[9], float omega, const unsigned char *solid)
{
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const float w[] = {4.0 / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f/36, 1.0f/36, 1.0f/36, 1.0f/36};
  const int opp[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
  float h[9], rho = 0, ux = 0, uy = 0;
  for (int i = 0; i < 9; i++) {
    h[i] = f[i][-cy[i]][-cx[i]];
    rho += h[i];
    if (cx[i]) ux += cx[i] * h[i];
    if (cy[i]) uy += cy[i] * h[i];
  }
  if (*solid) { for (int i = 0; i < 9; i++) *g[i] = h[opp[i]]; }
  else {
    for (int i = 0; i < 9; i++) {
      float cu = cx[i] * ux + cy[i] * uy;
      *g[i] = h[i] + omega * (w[i] * rho * (1 + 3 * cu) - h[i]);
    }
  }
}
