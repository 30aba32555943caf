/* double **: rows allocated one by one, and rows of one block; swaps of tables; 1-based loops. */
#include "show.h"

#include <stdlib.h>

static double **table(int n, int m, int one)
{
  double **a = malloc(n * sizeof *a), *block = one ? malloc((size_t)n * m * sizeof *block) : NULL;

  for (int i = 0; i < n; i++)
    a[i] = one ? block + (size_t)i * m : malloc(m * sizeof **a);
  return a;
}

int main(void)
{
  int n = 21, m = 18;

  for (int one = 0; one < 2; one++) {
    double **a = table(n, m, one), **b = table(n, m, one), **c;

    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        a[i][j] = b[i][j] = (i * 3 + j) % 13;
#pragma ambit
    for (int t = 0; t < 7; t++) {
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
          b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j - 1]) / 5;
      c = a;
      a = b;
      b = c;
    }
    for (int i = 0; i < n; i++)
      show("row", a[i], m * sizeof **a);
    if (one) {
      free(a[0] < b[0] ? a[0] : b[0]);
      free(a[0] < b[0] ? b[0] : a[0]);
    } else
      for (int i = 0; i < n; i++) {
        free(a[i]);
        free(b[i]);
      }
    free(a);
    free(b);
  }
  return 0;
}
