/* SPDX-License-Identifier: BSD-3-Clause */
/* Single elements that host code changes in the time loop: sources whose place and value depend on
 * the step, of several types, under conditions, beside copies that were put off. */
#include <stdlib.h>

#include "show.h"

#define NX       37
#define NY       29
#define AT(i, j) ((i)*NX + (j))

static float u[NY * NX], w[NY * NX];
static double h[NY][NX], hn[NY][NX];
static int count[NY][NX];
static float wave[64];

static float pulse(int t)
{
  return 0.5f / (1 + t);
}

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 45;
  float *p = u, *q = w;

  for (int t = 0; t < 64; t++)
    wave[t] = (float)(t * t % 11) / 8;
#pragma ambit
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++) {
        q[AT(i, j)] = 0.2f * (p[AT(i, j)] + p[AT(i - 1, j)] + p[AT(i + 1, j)] + p[AT(i, j - 1)] +
                              p[AT(i, j + 1)]);
        count[i][j] += p[AT(i, j)] > 0.01f;
      }
    q[AT(NY / 2, NX / 2)] += wave[t % 64];
    if (t % 3) q[AT(3 + t % 5, 2 + t / 4)] -= pulse(t); /* it wanders */
    q[AT(0, 0)] = t;                                    /* a cell that no nest touches */
    q[AT(1, 1)] = 0.25;
    q[AT(1, 2)] += 0.1; /* added as a double */
    count[2][t % 20 + 1] += t;
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++)
        hn[i][j] = h[i][j] + 0.1 * (h[i - 1][j] + h[i + 1][j] - 2 * h[i][j]) + q[AT(i, j)];
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++)
        h[i][j] = hn[i][j];
    h[5][6] += 0.125f * t;
    hn[5][7] += t; /* the copy above must not have it */
    if (t % 10 == 9) printf("%d %a %d\n", t, h[5][6], count[2][3]);
    float *swap = p;
    p = q;
    q = swap;
  }
  show("u", u, sizeof u);
  show("w", w, sizeof w);
  show("h", h, sizeof h);
  show("hn", hn, sizeof hn);
  show("count", count, sizeof count);
  return 0;
}
