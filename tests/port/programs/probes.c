/* SPDX-License-Identifier: BSD-3-Clause */
/* Host code that reads single elements in the time loop: traces, receivers with gaps between them,
 * sums over time, values of several types and of rows behind pointers. What it writes is read in the
 * loop, changed, freed, and used by nests. */
#include <math.h>
#include <stdlib.h>

#include "show.h"

#define NX       41
#define NY       27
#define AT(i, j) ((i)*NX + (j))
enum { MOST = 400, SEEN = 9 };

static float a[NY * NX], b[NY * NX], c[NY * NX], v[NY * NX];
static double h[NY][NX], hn[NY][NX];
static int count[NY][NX];
static double negative[MOST], trace[MOST], smooth[MOST], differences[MOST];
static int counts[MOST];
static float mixed[MOST], *last;

static void look(const double *t, int n)
{
  double s = 0;

  for (int i = 0; i < n; i++)
    s += t[i] * (i % 7 - 3);
  printf("%d %a\n", n, s);
}

static void note(int t, const float *p)
{
  mixed[t] = p[AT(2, 2)] - 2 * p[AT(20, 30)];
}

static double **rows(void)
{
  double **r = malloc(NY * sizeof *r);

  for (int i = 0; i < NY; i++) {
    r[i] = malloc(NX * sizeof **r);
    for (int j = 0; j < NX; j++)
      r[i][j] = (i * 5 + j) % 13;
  }
  return r;
}

/* Rows behind pointers, and a result that is read in some steps. */
static void heat(int steps)
{
  double **u = rows(), **w = rows(), middle = 0, *line = malloc(MOST * sizeof *line);
  double total = 0, lowest[MOST], *highest = malloc(MOST * sizeof *highest); /* no call gets them */

#pragma ambit
  for (int t = 0; t < steps; t++) {
    double **swap = u, top = 0;

    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++) {
        w[i][j] = 0.2 * (u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        top = fmax(top, w[i][j]);
      }
    u = w;
    w = swap;
    middle = u[NY / 2][NX / 2];
    line[t] = middle + u[3][4];
    lowest[t] = u[1][1];
    highest[t] = u[NY - 2][NX - 2];
    if (t % 9 == 4) {
      line[t] *= u[1][1];
      printf("%d %a %a\n", t, top, middle);
    }
  }
  for (int t = 0; t < steps; t++)
    total += lowest[t] - t * highest[t];
  show("line", line, steps * sizeof *line);
  printf("%a %a\n", middle, total);
  free(highest);
  for (int i = 0; i < NY; i++) {
    free(u[i]);
    free(w[i]);
  }
  free(u);
  free(w);
  free(line);
}

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 60;
  float *past = a, *now = b, *next = c, *seen = malloc(MOST * SEEN * sizeof *seen);
  double energy = 0.5, gone = 0;
  int n = 0, total = 0;

  last = malloc(sizeof *last);
  for (int i = 0; i < NY * NX; i++)
    v[i] = 0.1f + 0.01f * (i % 5);
  for (int i = 0; i < NX; i++)
    a[i] = b[i] = c[i] = -0.0f;
#pragma ambit
  for (int t = 0; t < steps; t++) {
    double here[3] = {t, 1, 2};

    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++) {
        next[AT(i, j)] = 2 * now[AT(i, j)] - past[AT(i, j)] +
                         v[AT(i, j)] * (now[AT(i - 1, j)] + now[AT(i + 1, j)] + now[AT(i, j - 1)] +
                                        now[AT(i, j + 1)] - 4 * now[AT(i, j)]);
        count[i][j] += now[AT(i, j)] > 0.01f;
      }
    next[AT(NY / 3, NX / 2)] += 1.0f / (1 + t);
    float *swap = past;
    past = now;
    now = next;
    next = swap;
    trace[t] = -now[AT(5, 6)];
    negative[t] = past[AT(0, 3)]; /* -0 */
    mixed[t] = 3;
    *last = now[AT(4, 4)];
    energy += now[AT(9, 9)] * now[AT(9, 10)] * 0.5;
    total -= count[8][20];
    differences[t] = sqrt(fabs(now[AT(5, 6)] - past[AT(7, 30)])) + h[3][3];
    counts[t] = count[8][9] + t;
    for (int r = 0; r < SEEN; r++)
      seen[t * SEEN + r] = now[AT(3, 1 + 4 * r)];
    if (t % 4 == 1) note(n++, now);
    here[2] = now[AT(2 + t % 20, 3)]; /* it wanders */
    gone += here[2];
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++)
        hn[i][j] = h[i][j] + 0.1 * (h[i - 1][j] + h[i + 1][j] - 2 * h[i][j]) + now[AT(i, j)];
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++)
        h[i][j] = hn[i][j];
    h[2][2] = now[AT(12, 12)]; /* from array to array */
    if (t == 20) trace[3] = 7;
    if (t == 33) energy = -1;
    if (t % 16 == 9) printf("%d %a %a %a %d\n", t, trace[t - 3], *last, energy, total);
    if (t % 25 == 24) look(differences, t);
  }
#pragma ambit
  for (int t = 1; t < MOST - 1; t++)
    smooth[t] = trace[t - 1] + trace[t] + trace[t + 1];
  show("now", now, sizeof a);
  show("h", h, sizeof h);
  show("hn", hn, sizeof hn);
  show("trace", trace, sizeof trace);
  show("negative", negative, sizeof negative);
  show("smooth", smooth, sizeof smooth);
  show("differences", differences, sizeof differences);
  show("counts", counts, sizeof counts);
  show("mixed", mixed, sizeof mixed);
  show("seen", seen, steps * SEEN * sizeof *seen);
  printf("%a %a %a %d\n", energy, *last, gone, total);
  free(seen);
  free(last);
  heat(steps);
  return 0;
}
