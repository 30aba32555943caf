/* Two halves of one piece of memory whose extent is not known. */
#include "show.h"
#include <stdlib.h>
#include <string.h>
/* two halves of one allocation, gotten through a function pointer so that its extent is not known */
static void *(*get)(size_t) = malloc;
int main(void)
{
  int n = 60;
  double *block = get(2 * n * sizeof(double)), *u = block, *v = block + n;
  for (int i = 0; i < 2 * n; i++)
    block[i] = i % 7;
#pragma ambit
  for (int t = 0; t < 4; t++) {
    for (int i = 1; i < n - 1; i++)
      v[i] = 0.5 * (u[i - 1] + u[i + 1]);
    for (int i = 1; i < n - 1; i++)
      u[i] = 0.5 * (v[i - 1] + v[i + 1]);
    block[n + 3] += 1;
  }
  show("block", block, 2 * n * sizeof(double));
  free(block);
  return 0;
}
