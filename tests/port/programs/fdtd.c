/* Four nests per time step on staggered arrays, one of them an edge fed by a table. */
#include "show.h"

#define NX 31
#define NY 42
#define T  13

static double ex[NX][NY], ey[NX][NY], hz[NX][NY], fict[T];

int main(void)
{
  int t, i, j;

  for (i = 0; i < T; i++)
    fict[i] = (double)i;
  for (i = 0; i < NX; i++)
    for (j = 0; j < NY; j++) {
      ex[i][j] = ((double)i * (j + 1)) / NX;
      ey[i][j] = ((double)i * (j + 2)) / NY;
      hz[i][j] = ((double)i * (j + 3)) / NX;
    }
#pragma ambit
  for (t = 0; t < T; t++) {
    for (j = 0; j < NY; j++)
      ey[0][j] = fict[t];
    for (i = 1; i < NX; i++)
      for (j = 0; j < NY; j++)
        ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
    for (i = 0; i < NX; i++)
      for (j = 1; j < NY; j++)
        ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
    for (i = 0; i < NX - 1; i++)
      for (j = 0; j < NY - 1; j++)
        hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
  show("ex", ex, sizeof ex);
  show("ey", ey, sizeof ey);
  show("hz", hz, sizeof hz);
  return 0;
}
