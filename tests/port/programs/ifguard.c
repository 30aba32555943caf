/* Indices that a statement guards, counts in a cell, outer temporaries. */
#include "show.h"
#include <stdlib.h>
int main(void)
{
  int n = 23, m = 17;
  double *a = malloc(sizeof(double) * n * m), *b = malloc(sizeof(double) * n * m), *t;
  int *cnt = malloc(sizeof(int) * n * m);
  for (int k = 0; k < n * m; k++)
    a[k] = b[k] = k % 7, cnt[k] = 0;
#pragma ambit
  for (int it = 0; it < 5; it++) {
    for (int i = 0; i < n; i++) {
      int up = i - 1, dn = i + 1;
      if (up < 0) up = n - 1;
      if (dn >= n) dn = 0;
      for (int j = 0; j < m; j++) {
        int c = 0, l = j > 0 ? j - 1 : 0;
        if (a[up * m + j] > 2) c++;
        if (a[dn * m + j] > 2) c += 2;
        cnt[i * m + j] = c;
        b[i * m + j] = (a[up * m + j] + a[dn * m + j] + a[i * m + l]) * 0.3125 + c;
      }
    }
    t = a;
    a = b;
    b = t;
  }
  show("a", a, sizeof(double) * n * m);
  show("cnt", cnt, sizeof(int) * n * m);
  free(a);
  free(b);
  free(cnt);
  return 0;
}
