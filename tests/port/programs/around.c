/* Nests that stay serial between nests that do not: lines solved one after the other, by a function with an array of its own; a mirror, a triangle, every second cell, counts
 * per value; a sum of each cell whose length depends on a plane. */
#include "show.h"
#define N 24
#define S 3
static double u[N][N], d[N][N], low[N][N], half[N / 2][N / 2], flip[N][N], c[S][N][N], cn[S][N][N];
static int seen[8];

static void solve(int n, double a, double b, double *x)
{
  double f[N];

  f[0] = a / b;
  x[0] = x[0] / b;
  for (int i = 1; i < n; i++) {
    double m = 1.0 / (b - a * f[i - 1]);
    f[i] = a * m;
    x[i] = (x[i] - a * x[i - 1]) * m;
  }
  for (int i = n - 2; i >= 0; i--)
    x[i] -= f[i] * x[i + 1];
}

int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      u[i][j] = i * j % 7;
      for (int s = 0; s < S; s++)
        c[s][i][j] = (s * 5 + i * 7 + j) % 13 * 0.1;
    }
#pragma ambit
  for (int t = 0; t < 6; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        d[i][j] = u[i][j] + 0.4 * (u[i][j - 1] - 2 * u[i][j] + u[i][j + 1]);
    for (int j = 1; j < N - 1; j++) {
      double x[N];

      for (int i = 0; i < N; i++)
        x[i] = d[i][j];
      solve(N, -0.4, 1.8, x);
      for (int i = 0; i < N; i++)
        d[i][j] = x[i];
    }
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        flip[i][j] = d[i][N - 1 - j];
    for (int i = 0; i < N; i++)
      for (int j = 0; j <= i; j++)
        low[i][j] = 0.5 * low[i][j] + flip[i][j];
    for (int i = 0; i < N; i += 2)
      for (int j = 0; j < N; j += 2)
        half[i / 2][j / 2] = 0.25 * (d[i][j] + d[i + 1][j] + d[i][j + 1] + d[i + 1][j + 1]);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        seen[(int)(d[i][j] + 100) % 8]++;
    for (int s = 0; s < S; s++)
      for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) {
          double w = 0;

          for (int k = 0; k < s; k++)
            w += 0.01 * c[k][i][j];
          cn[s][i][j] = c[s][i][j] + w * (d[i][j - 1] - d[i][j + 1]);
        }
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        u[i][j] = d[i][j] + 0.4 * (d[i - 1][j] - 2 * d[i][j] + d[i + 1][j]) + 0.01 * cn[2][i][j];
    for (int i = 1; i < N - 1; i++)
      solve(N, -0.4, 1.8, u[i]);
  }
  for (int k = 0; k < 8; k++)
    printf("%d ", seen[k]);
  show("u", u, sizeof u);
  show("low", low, sizeof low);
  show("half", half, sizeof half);
  show("cn", cn, sizeof cn);
  return 0;
}
