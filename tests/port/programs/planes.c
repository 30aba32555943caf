/* Planes that one nest names one by one, in a short loop, and another one goes over, in its outermost loop: the first is
 * one step. Planes that a nest with a long loop goes over, too, stay an axis. */
#include "show.h"
#define N 17
#define M 14

static double f[9][N][M], g[9][N][M], h[12][N][M];
static const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

static void start(void)
{
  for (int q = 0; q < 12; q++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) {
        h[q][i][j] = (i * 5 + j * 3 + q) % 11;
        if (q < 9) f[q][i][j] = g[q][i][j] = 1 + 0.01 * ((i * 3 + j * 5 + q) % 17);
      }
}

int main(void)
{
  int last = 12;

  start();
#pragma ambit
  for (int t = 0; t < 5; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < M - 1; j++) {
        double r = 0, p[9];

        for (int q = 0; q < 9; q++) {
          p[q] = f[q][i - cx[q]][j - cy[q]];
          r += p[q];
        }
        for (int q = 0; q < 9; q++)
          g[q][i][j] = p[q] + 0.6 * (r / 9 - p[q]) + t;
      }
    for (int q = 0; q < 9; q++)
      for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < M - 1; j++)
          f[q][i][j] = g[q][i][j];
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        h[0][i][j] = 0.5 * (h[1][i][j] + h[2][i][j] + h[3][i][j] + h[4][i][j] + h[5][i][j]);
    for (int q = 1; q < last; q++)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
          h[q][i][j] += 0.25 * h[q - 1][i][j];
  }
  show("f", f, sizeof f);
  show("g", g, sizeof g);
  show("h", h, sizeof h);
  return 0;
}
