/* SPDX-License-Identifier: BSD-3-Clause */
/* says: the strides of 'g->b' do not divide each other */
/* says: #pragma ambit shape(g->b[ny][nx]) */
typedef struct grid {
  int nx, ny;
  double *a, *b;
} grid;

void f(grid *g)
{
#pragma ambit
  for (int j = 0; j < g->ny; j++)
    for (int i = 0; i < g->nx; i++)
      g->a[j * g->nx + i] = g->b[j * (g->nx + 1) + i] + g->b[j * g->nx + i];
}
