/* In-place updates that are allowed: red and black cells by condition and by loops that count by two; a read of cells that come later. */
#include "show.h"

#define N 26
#define M 33

static double u[N][M], line[100];

int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      u[i][j] = (i * 7 + j * 5) % 12 * 0.125;
  for (int i = 0; i < 100; i++)
    line[i] = i * i % 23;
#pragma ambit
  {
    for (int t = 0; t < 4; t++) {
      for (int i = 1; i < 99; i += 2)
        line[i] = 0.5 * (line[i - 1] + line[i + 1]);
      for (int i = 2; i < 99; i += 2)
        line[i] = 0.5 * (line[i - 1] + line[i + 1]);
      for (int i = 0; i < N - 1; i++)
        for (int j = 0; j < M - 1; j++)
          u[i][j] = 0.5 * u[i][j] + 0.25 * (u[i + 1][j] + u[i][j + 1]);
      for (int i = N - 1; i >= 1; i--)
        for (int j = M - 2; j >= 0; j--)
          u[i][j] += 0.125 * u[i - 1][j + 0];
    }
  }
  show("u", u, sizeof u);
  show("line", line, sizeof line);
  return 0;
}
