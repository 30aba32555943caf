/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows behind pointers: of structs, of several axes, in an array of pointers, behind one pointer, and one row of several. */
#include "show.h"

#include <stdlib.h>

enum { M = 12, N = 15 };

typedef struct cell {
  double h;
  float f[3];
} cell;

static void start(cell **pp)
{
  *pp = malloc(N * sizeof **pp);
  for (int i = 0; i < N; i++)
    (*pp)[i].h = i, (*pp)[i].f[0] = (*pp)[i].f[1] = (*pp)[i].f[2] = 1;
#pragma ambit must
  for (int i = 0; i < N; i++)
    (*pp)[i].h = 3 * i;
}

static void shift(double **to, double **p, double **q)
{
#pragma ambit must
  for (int i = 1; i < M - 1; i++)
    for (int j = 0; j < N; j++)
      to[i][j] = p[i + 1][j] - q[i - 1][j];
}

int main(void)
{
  cell *one, **c = malloc(M * sizeof *c);
  double **a = malloc(M * sizeof *a), *b[M], **w = malloc(2 * sizeof *w),
         **v = malloc(M * sizeof *v);

  start(&one);
  for (int i = 0; i < M; i++) {
    const int r = i * 5 % M; /* not in the order of memory */

    c[r] = malloc(N * sizeof **c);
    a[r] = malloc(3 * N * sizeof **a);
    b[i] = malloc(N * sizeof *b[i]);
    v[i] = malloc(N * sizeof **v);
    for (int j = 0; j < N; j++) {
      c[r][j] = (cell){r * j % 7, {2, 1, r}};
      b[i][j] = v[i][j] = 0;
    }
    for (int j = 0; j < 3 * N; j++)
      a[r][j] = r + j;
  }
  for (int i = 0; i < 2; i++) {
    w[i] = malloc(N * sizeof **w);
    for (int j = 0; j < N; j++)
      w[i][j] = i + j;
  }
#pragma ambit must
  for (int t = 0; t < 3; t++) {
    for (int i = 1; i < M - 1; i++)
      for (int j = 1; j < N - 1; j++)
        c[i][j].f[1] = 0.5f * (c[i - 1][j].f[0] + c[i + 1][j + 1].f[0]);
    for (int i = 1; i < M - 1; i++)
      for (int j = 1; j < N - 1; j++)
        c[i][j].h += c[i][j].f[1];
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++)
        for (int k = 0; k < 3; k++)
          a[i][j * 3 + k] += c[i][j].h;
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++)
        b[i][j] += a[i][j * 3 + 1] * one[j].h;
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++)
        b[i][j] += w[0][i] * w[1][j];
  }
  shift(v, b, b);
  show("one", one, N * sizeof *one);
  for (int i = 0; i < M; i++) {
    for (int j = 0; j < N; j++)
      printf("%g %g %g %g %g %g\n", c[i][j].h, c[i][j].f[0], c[i][j].f[1], c[i][j].f[2], b[i][j],
             v[i][j]);
    show("a", a[i], 3 * N * sizeof **a);
  }
  return 0;
}
