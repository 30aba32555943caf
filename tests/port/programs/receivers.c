/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources and receivers whose places and records are structs; several sources in a cell; sources
 * that wander until there are too many places; places that steps compute. */
#include <stdlib.h>

#include "show.h"

#define NX 24
#define NZ 20

struct receiver {
  int ix, iz;
  float *trace, weight;
};

struct source {
  int at[2];
  float strength;
};

static float p[NX * NZ], q[NX * NZ], rho[NX * NZ];
static int where[8];

static float pulse(float strength, int t)
{
  return strength / (1 + t);
}

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 30, nrec = 7;
  struct receiver *rec = malloc(nrec * sizeof *rec), last = {3, 4, calloc(steps, sizeof(float)), 2};
  struct source src[4] = {{{3, 5}, 1}, {{11, 7}, 0.5f}, {{3, 5}, 0.25f}, {{20, 15}, 0.125f}};
  float seen = 0, *now = p, *next = q;

  for (int r = 0; r < nrec; r++)
    rec[r] = (struct receiver){2 + 3 * r, 4, calloc(steps, sizeof(float)), 1 + r};
#pragma ambit
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < NX - 1; i++)
      for (int k = 1; k < NZ - 1; k++) {
        const int a = i * NZ + k;

        next[a] = 0.2f * (now[a] + now[a - 1] + now[a + 1] + now[a - NZ] + now[a + NZ]);
        rho[a] *= 0.5f;
      }
    for (int s = 0; s < 4; s++)
      next[src[s].at[0] * NZ + src[s].at[1]] += pulse(src[s].strength, t);
    for (int s = 0; s < 9; s++) /* they wander */
      rho[(2 + (5 * s + t) % 17) * NZ + 3 + s] -= 0.5f * s;
    for (int n = 0; n < 8; n++)
      where[n] = (where[n] + 3 * n + 1) % (NX * NZ);
    for (int n = 0; n < 8; n++)
      rho[where[n]] += 1.5f;
    for (int r = 0; r < nrec; r++)
      rec[r].trace[t] = rec[r].weight * next[rec[r].ix * NZ + rec[r].iz];
    last.trace[t] = next[last.ix * NZ + last.iz] + rho[where[3]];
    for (int r = 0; r < nrec; r++)
      seen += next[rec[r].ix * NZ + rec[r].iz] * rec[r].weight;
    float *swap = now;
    now = next;
    next = swap;
  }
  printf("%a\n", seen);
  for (int r = 0; r < nrec; r++)
    show("trace", rec[r].trace, steps * sizeof(float));
  show("last", last.trace, steps * sizeof(float));
  show("p", p, sizeof p);
  show("q", q, sizeof q);
  show("rho", rho, sizeof rho);
  return 0;
}
