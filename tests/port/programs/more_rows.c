/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of rows that steps use more and more of: rows of one block, rows of their own, rows that
 * are replaced, entries that lead nowhere; arrays that a step sets before another one reads them. */
#include <stdlib.h>
#include <string.h>

#include "show.h"

enum { NY = 22, NX = 17 };

static double **create(int is_block)
{
  double **rows = malloc((NY + 3) * sizeof *rows), *cells = calloc(NY * NX, sizeof *cells);

  for (int i = 0; i < NY; i++)
    rows[i] = is_block ? cells + i * NX : calloc(NX + i % 3, sizeof **rows);
  memset(rows + NY, 1, 3 * sizeof *rows); /* no addresses */
  return rows;
}

#pragma ambit
static void step(double **a, double **b, int from, int to, int width)
{
  for (int i = from; i < to; i++)
    for (int j = 1; j < width; j++)
      b[i][j] = a[i][j] + 0.25 * a[i][j - 1];
  for (int j = 1; j < width; j++) {
    b[from - 1][j] = b[from][j];
    b[to][j] = a[to][j] - b[to - 1][j];
  }
  for (int i = from - 1; i < to; i++)
    for (int j = 1; j < width; j++)
      a[i][j] = 0.5 * (b[i][j] + b[i + 1][j - 1]);
}

int main(void)
{
  double **u = create(1), **v = create(0), **w = create(0), *new_row;

  for (int i = 0; i < NY; i++)
    for (int j = 0; j < NX; j++) {
      u[i][j] = (i * 5 + j * 3) % 7;
      v[i][j] = i - j;
    }
  for (int t = 0; t < 9; t++) {
    step(u, v, 3, 5 + t, 4 + t);
    step(v, w, 1, NY - 2, NX - 1);
    if (t == 4) {
      new_row = malloc(NX * sizeof *new_row);
      memcpy(new_row, v[6], NX * sizeof *new_row);
      free(v[6]);
      v[6] = new_row;
    }
    if (t == 6) {
      double *row = u[2];

      u[2] = u[9];
      u[9] = row;
    }
    w[2][5] += v[3][4];
  }
  for (int i = 0; i < NY; i++) {
    show("u", u[i], NX * sizeof **u);
    show("v", v[i], NX * sizeof **v);
    show("w", w[i], NX * sizeof **w);
  }
  return 0;
}
