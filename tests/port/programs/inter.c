/* Reductions between nests, loops that count down and in another order, nests under conditions, four axes. */
#include "show.h"
#include <math.h>
/* reductions used by the next nest, nests under conditions, sums with sum(any) on integers, float sums, descending loops, 4-D */
#define A 5
#define B 6
#define C 7
#define D 8
static double q[A][B][C][D], r[A][B][C][D];
static float f[200];
int main(void)
{
  long hits = 0;
  float fs = 0;
  double norm, lowest = 1e9;
  for (int i = 0; i < A * B * C * D; i++)
    (&q[0][0][0][0])[i] = (i * 37 % 101) * 0.25;
  for (int i = 0; i < 200; i++)
    f[i] = 1.0f / (i + 1);
#pragma ambit
  for (int t = 0; t < 3; t++) {
    norm = 0;
    for (int d = D - 1; d >= 0; d--)
      for (int a = 0; a < A; a++)
        for (int c = 0; c < C; c++)
          for (int b = B - 1; b >= 0; b--)
            norm += q[a][b][c][d] * q[a][b][c][d];
    norm = sqrt(norm);
    if (t != 1)
      for (int a = 1; a < A - 1; a++)
        for (int b = 1; b < B - 1; b++)
          for (int c = 1; c < C - 1; c++)
            for (int d = 1; d < D - 1; d++) {
              r[a][b][c][d] = (q[a - 1][b][c][d] + q[a + 1][b][c][d] - q[a][b - 1][c][d] +
                               q[a][b][c + 1][d - 1]) /
                              norm;
              if (r[a][b][c][d] > 0) hits++;
              lowest = fmin(lowest, r[a][b][c][d]);
            }
    else
      for (int a = 0; a < A; a++)
        for (int b = 0; b < B; b++)
          for (int c = 0; c < C; c++)
            for (int d = 0; d < D; d++)
              q[a][b][c][d] += r[a][b][c][d];
    for (int i = 199; i > 10; i -= 1)
      fs += f[i] * (float)norm;
    for (int i = 0; i < 200; i++)
      fs -= f[i];
  }
  printf("%.17g %ld %.9g %.17g\n", norm, hits, fs, lowest);
  show("q", q, sizeof q);
  show("r", r, sizeof r);
  return 0;
}
