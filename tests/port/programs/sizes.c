/* Many sizes in one program: arrays that come and go, and one of which steps touch more and more. */
#include <stdlib.h>

#include "show.h"

static float window(const float *u, int wide, int y, int x, int r)
{
  float sum = 0;

#pragma ambit
  for (int b = y - r; b <= y + r; b++)
    for (int a = x - r; a <= x + r; a++)
      sum += u[b * wide + a];
  return sum;
}

static double smooth(int n)
{
  double *u = malloc((size_t)n * sizeof *u), *v = malloc((size_t)n * sizeof *v), sum = 0;

  for (int i = 0; i < n; i++)
    u[i] = v[i] = i * i % 7;
#pragma ambit
  for (int t = 0; t < 3; t++) {
    for (int i = 1; i < n - 1; i++)
      v[i] = 0.5 * (u[i - 1] + u[i + 1]);
    for (int i = 1; i < n - 1; i++) {
      u[i] = v[i];
      sum += u[i];
    }
  }
  free(u);
  free(v);
  return sum;
}

int main(void)
{
  enum { N = 16 };
  static float u[N * N];

  for (int i = 0; i < N * N; i++)
    u[i] = (float)(i * 31 % 97);
  for (int y = 1; y < N - 1; y++)
    for (int x = 1; x < N - 1; x += 2)
      printf("%.9g\n", window(u, N, y, x, 1));
  for (int n = 3; n < 75; n++)
    printf("%.17g\n", smooth(n));
  return 0;
}
