/* True multi-dimensional arrays, two nests per step, copy-back, a nest in a called function (PolyBench's style). */
#include "show.h"

#define N 37
#define M 29
#define T 9

static double A[N][M], B[N][M];

static void init(int n, int m, double a[N][M], double b[N][M])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      a[i][j] = ((double)i * (j + 2) + 2) / n;
      b[i][j] = ((double)i * (j + 3) + 3) / n;
    }
}

static void jacobi(int steps, int n, int m, double a[N][M], double b[N][M])
{
  int t, i, j;

#pragma ambit
  for (t = 0; t < steps; t++) {
    for (i = 1; i < n - 1; i++)
      for (j = 1; j < m - 1; j++)
        b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][1 + j] + a[1 + i][j] + a[i - 1][j]);
    for (i = 1; i < n - 1; i++)
      for (j = 1; j < m - 1; j++)
        a[i][j] = b[i][j];
  }
  printf("%d %d %d\n", t, i, j);
}

int main(void)
{
  init(N, M, A, B);
  jacobi(T, N, M, A, B);
  show("A", A, sizeof A);
  show("B", B, sizeof B);
  return 0;
}
