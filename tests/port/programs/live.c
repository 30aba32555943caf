/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables that nests leave behind: the host uses them after assignments of its own. */
#include "show.h"

static int a[16], b[16], at, rounds[3];
static double u[9][7], v[9][7];

static int last(int n)
{
  int i = 0;

  a[2] = 3;
#pragma ambit must
  for (i = 0; i < n; i++)
    b[i] = a[i] + i;
  return i;
}

int main(void)
{
  int i = -1, j = -1, k;

  printf("%d %d\n", last(16), last(0));
  for (int t = 0; t < 3; t++) {
    i = j = 5;
    u[t][t] = t;
#pragma ambit must
    for (i = 1; i < 8; i++)
      for (j = 5; j > 0; j -= 1)
        v[i][j] = u[i - 1][j] + u[i + 1][j];
    rounds[t] = 10 * i + j;
#pragma ambit must
    for (i = 0; i < 9; i += 2)
      for (j = 0; j < 7; j++)
        u[i][j] = v[i][j] + 0.5;
    if (t == 1) continue;
    rounds[t] += 100 * i;
  }
  k = 3;
  a[k] = 9;
#pragma ambit must
  for (i = 1; i < 15; i++)
    for (k = -1; k <= 1; k++)
      b[i] += a[i + k];
  a[k] = 5;
  k = 3;
#pragma ambit must
  for (at = 0; at < 12; at++)
    a[at] = b[at] - 1;
  a[at] = 77; /* a global variable of a loop */
  switch (k) {
  case 3:
#pragma ambit must
    for (k = 4; k < 10; k++)
      b[k] = a[k] * 2;
  }
  printf("%d %d %d %d\n", i, j, k, at);
  show("a", a, sizeof a);
  show("b", b, sizeof b);
  show("u", u, sizeof u);
  show("v", v, sizeof v);
  show("rounds", rounds, sizeof rounds);
  return 0;
}
