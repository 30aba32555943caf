/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that are copied by memcpy, and functions that go over all elements of an array as if it had
 * one axis: over all of it, over whole rows, over parts of rows. */
#include <stdlib.h>
#include <string.h>

#include "show.h"

enum { NX = 21, NY = 16 };

typedef struct state {
  double *u, *v, *next;
  float w[NY][NX], old[NY][NX];
} state;

static void smooth(state *s, double *q)
{
  for (int j = 1; j < NY - 1; j++)
    for (int i = 1; i < NX - 1; i++) {
      const int p = j * NX + i;

      s->next[p] = 0.2 * (q[p] + q[p - 1] + q[p + 1] + q[p - NX] + q[p + NX]);
    }
  for (int j = 1; j < NY - 1; j++)
    memcpy(&q[j * NX + 1], s->next + j * NX + 1, (NX - 2) * sizeof(double));
}

static void react(double *a, double *b, int first, int end)
{
  for (int k = first; k < end; k++) {
    const double r = 0.25 * a[k] * b[k];

    a[k] -= r;
    b[k] += r;
  }
}

static void ramp(double *a, int n)
{
  for (int k = 0; k < n; k++)
    a[k] += k % 3;
}

int main(void)
{
  state *s = calloc(1, sizeof *s);

  s->u = calloc(NX * NY, sizeof(double));
  s->v = calloc(NX * NY, sizeof(double));
  s->next = calloc(NX * NY, sizeof(double));
  for (int k = 0; k < NX * NY; k++) {
    s->u[k] = k % 7;
    s->v[k] = k % 5;
    s->w[0][k] = k % 11;
  }
#pragma ambit
  for (int t = 0; t < 20; t++) {
    smooth(s, s->u);
    smooth(s, s->v);
    react(s->u, s->v, 0, NX * NY);
    if (t % 5 == 1) react(s->u, s->v, 2 * NX, 5 * NX);
    if (t % 5 == 2) react(s->u, s->v, 3 * NX + 2, 6 * NX + 4);
    if (t % 5 == 3) react(s->u, s->u + 4 * NX, 0, 4 * NX);
    if (t % 7 == 6) ramp(s->u, NX * NY);
    for (int j = 0; j < NY; j++)
      memcpy(s->old[j], s->w[j], sizeof s->w[j]);
    for (int j = 1; j < NY - 1; j++)
      for (int i = 1; i < NX - 1; i++)
        s->w[j][i] =
            0.25f * (s->old[j][i - 1] + s->old[j][i + 1] + s->old[j - 1][i] + s->old[j + 1][i]);
  }
  show("u", s->u, NX * NY * sizeof(double));
  show("v", s->v, NX * NY * sizeof(double));
  show("next", s->next, NX * NY * sizeof(double));
  show("w", s->w, sizeof s->w);
  show("old", s->old, sizeof s->old);
  return 0;
}
