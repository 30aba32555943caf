/* Loops over time that look like loops over cells: all levels of a field are kept, or a row of it in each step. a = b = c on edges. */
#include <stdlib.h>

#include "show.h"

enum { STEPS = 30, N = 12, WIDE = 19, HIGH = 15 };

static double all[STEPS + 1][N][N];

#pragma ambit
static void heat(void)
{
  for (int t = 0; t < STEPS; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        all[t + 1][i][j] =
            all[t][i][j] + 0.1 * (all[t][i - 1][j] + all[t][i + 1][j] + all[t][i][j - 1] +
                                  all[t][i][j + 1] - 4 * all[t][i][j]);
}

#pragma ambit
static void shots(int steps, float *p, float *q, float *seen)
{
  for (int t = 0; t < steps; t++) {
    q[5 * WIDE + 7] += 1.0f / (1 + t);
    for (int z = 1; z < HIGH - 1; z++)
      for (int x = 1; x < WIDE - 1; x++) {
        const int k = z * WIDE + x;

        p[k] =
            2 * q[k] - p[k] + 0.2f * (q[k - 1] + q[k + 1] + q[k - WIDE] + q[k + WIDE] - 4 * q[k]);
      }
    for (int x = 0; x < WIDE; x++)
      p[x] = p[(HIGH - 1) * WIDE + x] = q[x] = q[(HIGH - 1) * WIDE + x] = 0.5f;
#pragma ambit serial
    for (int x = 0; x < WIDE; x++)
      seen[t * WIDE + x] = p[3 * WIDE + x];
    float *other = p;
    p = q;
    q = other;
  }
}

int main(void)
{
  enum { SHOTS = 9 };
  float *p = calloc(WIDE * HIGH, sizeof *p), *q = calloc(WIDE * HIGH, sizeof *q);
  float *seen = calloc(SHOTS * WIDE, sizeof *seen);

  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      all[0][i][j] = (i * 7 + j * 3) % 11;
  heat();
  show("all", all, sizeof all);
  shots(SHOTS, p, q, seen);
  show("p", p, WIDE * HIGH * sizeof *p);
  show("q", q, WIDE * HIGH * sizeof *q);
  show("seen", seen, SHOTS * WIDE * sizeof *seen);
  free(p);
  free(q);
  free(seen);
  return 0;
}
