/* Red and black cells in the ways people write them; numbers that never change. */
#include <math.h>

#include "show.h"

#define N 30

static double u[N][N], f[N][N];
static double quarter = 0.25;

#pragma ambit
static double sweep(int colour, double w)
{
  int i, j;
  double err = 0;

  for (i = 1; i < N - 1; i++)
    for (j = 1 + ((i + colour) & 1); j < N - 1; j += 2) {
      double r =
          quarter * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]) - u[i][j];
      u[i][j] += w * r;
      if (fabs(r) > err) err = fabs(r);
    }
  return err;
}

#pragma ambit
static void relax(int n)
{
  const double over = -1.5 * 0.1;

  for (int colour = 0; colour < 2; colour++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1 + (i + colour) % 2; j < n - 1; j += 2)
        u[i][j] =
            quarter * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + over * f[i][j]);
  for (int i = 1; i < n - 1; i++)
    for (int j = 2 - i % 2; j < n - 1; j += 2)
      u[i][j] = quarter * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      if ((i + j) % 2 == 1)
        u[i][j] = quarter * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
}

int main(void)
{
  double e = 1;
  int it;

  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      u[i][j] = i == 0;
      f[i][j] = i * j % 7 * 0.01;
    }
  for (it = 0; it < 20 && e > 1e-6; it++) {
    e = sweep(0, 1.5);
    e = fmax(e, sweep(1, 1.5));
  }
  relax(N);
  relax(N - 3);
  printf("%d %.17g\n", it, e);
  show("u", u, sizeof u);
  return 0;
}
