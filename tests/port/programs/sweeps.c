/* Loops whose cells depend on the one before, along one axis: forward and backward, two cells back, along the last axis and
 * others, a variable that a line carries; and arrays of one line, which become arrays of all lines. */
#include "show.h"
#include <stdlib.h>
#define N       19
#define M       23
#define U(i, j) u[(i)*M + (j)]

static double v[N][M], w[7][N][M], line[M];
static float f[N][M];
static int count[N][M];

/* a x[i - 1] + b x[i] + a x[i + 1] = d[i]: x has d first, and may be any part of a line. */
static void solve(int n, double a, double b, double *c, double *x)
{
  c[0] = a / b;
  x[0] = x[0] / b;
  for (int i = 1; i < n; i++) {
    double m = 1 / (b - a * c[i - 1]);
    c[i] = a * m;
    x[i] = (x[i] - a * x[i - 1]) * m;
  }
  for (int i = n - 2; i >= 0; i--)
    x[i] -= c[i] * x[i + 1];
}

int main(void)
{
  double *u = malloc(N * M * sizeof *u), *c = malloc(M * sizeof *c), *d = malloc(M * sizeof *d),
         kept[M], last = 0;

  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      U(i, j) = 1 + (i * 7 + j * 3) % 11;
      v[i][j] = (i * 5 + j) % 13;
      f[i][j] = (float)((i + 2 * j) % 5);
      count[i][j] = (i * j) % 3;
      for (int k = 0; k < 7; k++)
        w[k][i][j] = (k + i + j) % 9;
    }
  for (int j = 0; j < M; j++)
    kept[j] = j;
#pragma ambit
  for (int t = 0; t < 4; t++) {
    for (int i = 1; i < N; i++) /* along the first axis, and along the last one to and fro */
      for (int j = 0; j < M; j++)
        v[i][j] += 0.5 * v[i - 1][j];
    for (int i = 0; i < N; i++) {
      for (int j = 2; j < M; j++)
        f[i][j] = 0.4f * f[i][j] + 0.3f * f[i][j - 1] - 0.1f * f[i][j - 2];
      for (int j = M - 2; j >= 0; j--)
        f[i][j] = 0.7f * f[i][j] + 0.2f * f[i][j + 1];
    }
    for (int k = 5; k >= 0; k--) /* and reads of cells that come later, of both kinds */
      for (int i = 1; i < N - 1; i++)
        for (int j = 0; j < M; j++)
          w[k][i][j] = 0.5 * w[k + 1][i][j] + 0.25 * v[i][j] + (k > 0 ? 0.1 * w[k - 1][i][j] : 0);
    for (int i = 0; i < N; i++) { /* what a line carries in variables */
      double s = w[0][i][0], top = 0;
      int n = 0;

      for (int j = 0; j < M; j++) {
        s = 0.9 * s + U(i, j);
        n += U(i, j) > 3;
        if (s > top) top = s;
        v[i][j] = s - top;
        count[i][j] = n;
      }
    }
    for (int i = 1; i < N - 1; i++) { /* two tridiagonal solvers with lines for factors: rows */
      c[0] = d[0] = 0;
      for (int j = 1; j < M - 1; j++) {
        double m = 1 / (2.5 + 0.4 * c[j - 1]);
        c[j] = -0.4 * m;
        d[j] = (0.2 * (v[i - 1][j] + v[i + 1][j]) + v[i][j] + 0.4 * d[j - 1]) * m;
      }
      U(i, M - 1) = t;
      for (int j = M - 2; j > 0; j--)
        U(i, j) = d[j] - c[j] * U(i, j + 1);
    }
    for (int j = 1; j < M - 1; j++) { /* columns */
      c[0] = d[0] = 0;
      for (int i = 1; i < N - 1; i++) {
        double m = 1 / (2.5 + 0.4 * c[i - 1]);
        c[i] = -0.4 * m;
        d[i] = (0.2 * (U(i, j - 1) + U(i, j + 1)) + U(i, j) + 0.4 * d[i - 1]) * m;
      }
      for (int i = N - 2; i > 0; i--)
        v[i][j] = d[i] - c[i] * v[i + 1][j];
    }
    for (int k = 0; k < 7; k++) /* the middle axis, by a function and lines of the loop body */
      for (int j = 0; j < M; j++) {
        double x[N], e[N];

        for (int i = 0; i < N; i++)
          x[i] = w[k][i][j];
        solve(N, -0.3, 2.0, e, x);
        for (int i = 0; i < N; i++)
          w[k][i][j] = x[i] + t;
      }
    for (int i = 0; i < N; i++) { /* these keep values of other lines, and stay serial */
      for (int j = 0; j < M; j++)
        kept[j] += f[i][j];
      for (int j = 0; j < M; j++)
        f[i][j] = (float)(0.5 * kept[j] / (1 + i + t));
    }
    for (int i = 0; i < N; i++) {
      for (int j = 1; j < M; j++)
        line[j] = v[i][j] * 0.5;
      for (int j = 0; j < M; j++)
        v[i][j] -= line[j] * 0.1;
    }
    for (int i = 0; i < N; i++) {
      double s = 0;

      for (int j = 0; j < M; j++) {
        s += U(i, j);
        U(i, j) -= 0.001 * s;
      }
      last += s;
    }
    line[0] += last;
  }
  show("u", u, N * M * sizeof *u);
  show("v", v, sizeof v);
  show("w", w, sizeof w);
  show("f", f, sizeof f);
  show("count", count, sizeof count);
  show("kept", kept, sizeof kept);
  show("last", &last, sizeof last);
  free(u);
  free(c);
  free(d);
  return 0;
}
