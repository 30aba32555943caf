/* Guarded edges: modulo, ternaries that wrap, ternaries that clamp; planes chosen by [t % 2]; unsigned char. */
#include "show.h"

#define N 24
#define M 31

static double u[2][N][M];
static unsigned char life[N][M], next[N][M];

int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      u[0][i][j] = (i * 5 + j * 3) % 7;
      life[i][j] = (i * i + 3 * j) % 5 < 2;
    }
#pragma ambit
  {
    for (int t = 0; t < 8; t++)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
          int left = j == 0 ? 0 : j - 1, right = j < M - 1 ? j + 1 : M - 1;

          u[(t + 1) % 2][i][j] = 0.25 * (u[t % 2][(i + 1) % N][j] + u[t % 2][(i - 1 + N) % N][j] +
                                         u[t % 2][i][left] + u[t % 2][i][right]);
        }
    for (int t = 0; t < 6; t++) {
      for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
          int up = i == 0 ? N - 1 : i - 1, down = i == N - 1 ? 0 : i + 1;
          int l = (j + M - 1) % M, r = (j + 1) % M;
          int n = life[up][l] + life[up][j] + life[up][r] + life[i][l] + life[i][r] +
                  life[down][l] + life[down][j] + life[down][r];

          next[i][j] = n == 3 || (n == 2 && life[i][j]);
        }
      for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
          life[i][j] = next[i][j];
    }
  }
  int alive = 0;
#pragma ambit
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      if (life[i][j]) alive++;
  printf("%d\n", alive);
  show("u", u, sizeof u);
  show("life", life, sizeof life);
  return 0;
}
