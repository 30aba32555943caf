/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of reductions that the host reads in each step, in some, after the loop, or never; that
 * steps read; that pile up; that conditions, breaks and returns depend on. */
#include <math.h>

#include "show.h"

enum { NY = 24, NX = 31 };

static double u[NY][NX], v[NY][NX];
static float w[NY][NX];

static void step(void)
{
  for (int i = 1; i < NY - 1; i++)
    for (int j = 1; j < NX - 1; j++)
      v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
  for (int i = 1; i < NY - 1; i++)
    for (int j = 1; j < NX - 1; j++)
      u[i][j] = v[i][j];
}

/* Read after the loop, and in every fourth step. */
static double change(int steps)
{
  double sum = 0, never = 0, all = 1, most;
  int n = 0, cells = 0;
  long total = 5;

  for (int t = 0; t < steps; t++) {
    sum = n = 0;
    most = -1;
    step();
    for (int i = 0; i < NY; i++)
      for (int j = NX - 1; j >= 0; j--) {
        sum += u[i][j] * u[i][j];
        most = fmax(most, fabs(u[i][j] - v[i][j]));
        if (u[i][j] > 0.5) n++;
      }
    for (int i = 0; i < NY; i++)
      for (int j = 0; j < NX; j++) {
        never += u[i][j];
        all += 0.5 * v[i][j]; /* of all steps */
        total += u[i][j] > 0.25;
      }
    if (t % 4 == 3) printf("%d %.17g %.17g %d\n", t, sum, most, n);
    if (t == 6) cells = n;
    if (t == 7) all = 2 + cells;
  }
  printf("%.17g %.17g %d %ld\n", all, most, cells, total);
  return sum;
}

/* The time step follows the largest value; a cell is set by it. */
static int adapt(double end)
{
  double time = 0;
  int n = 0;

  while (time < end) {
    float top = 0.5f;
    double dt;

    for (int i = 0; i < NY; i++)
      for (int j = 0; j < NX; j++)
        top = fmaxf(top, w[i][j]);
    dt = 0.25 / top;
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++)
        w[i][j] = w[i][j] + (float)(dt * 0.125) * (float)u[i][j];
    w[0][n % NX] += top;
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++)
        v[i][j] += 1e-3 * top; /* read by a step */
    time += dt;
    if (++n == 50) break;
  }
  return n;
}

/* A variable of its own in each call, a result that two nests add to, and one for another. */
static double norm(int depth, double base)
{
  double s = base, rest = 0;

  for (int i = 0; i < NY; i++)
    for (int j = 0; j < NX; j++)
      s += u[i][j];
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < NY; i++)
      for (int j = 0; j < NX; j++)
        s += v[i][j] * k;
  if (depth) rest = norm(depth - 1, 0.25);
  return s + rest;
}

static int find(int steps)
{
  int t;

  for (t = 0; t < steps; t++) {
    double least = 1e9;

    step();
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++)
        if (u[i][j] < least) least = u[i][j];
    if (t % 2) continue;
    if (least > 0.01) return t;
    u[3][t % NX] = least;
    if (least < -5) break;
  }
  return -t;
}

#define REST(x) ((x) > 0 ? (x) : -(x))

/* In headers of loops, conditions, subscripts, a switch; a parameter, a variable that is hidden. */
static double odd(double total, int most)
{
  int n = 0, rounds = 0;
  double low = 1e9, high = -1e9;

  do {
    double low = 50;

    n = 0;
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++) {
        if (v[i][j] > 0.1 * rounds) n++;
        low = fmin(low, v[i][j]);
      }
    w[1][n % NX] += 0.5f;
    for (int i = 1; i < NY - 1; i++)
      for (int j = 1; j < NX - 1; j++)
        total += w[i][j] * low;
    switch (n % 3) {
    case 0: high = REST(low); break;
    case 1: high += low; /* fall through */
    default: rounds++;
    }
  } while (++rounds < most && n > 3);
  for (low = rounds; low < n; low += 100)
    printf("%.17g\n", low);
  for (int i = 1; i < NY - 1; i++)
    for (int j = 1; j < NX - 1; j++)
      if (w[i][j] > high) high = w[i][j];
  low = n = 2 * n;
  return (n > 5 ? total : 0) + high + low;
}

/* Jumps over declarations: the result comes at once. */
static double jump(int most)
{
  int t = 0;

again:
  if (t++ == most) goto done;
  {
    double s = t;

    for (int i = 0; i < NY; i++)
      for (int j = 0; j < NX; j++)
        s += u[i][j];
    u[t][3] = 1e-3 * s;
    if (s < 0) goto done;
    goto again;
  }
done:
  return u[most][3];
}

#pragma ambit
static void all(void)
{
  double a, b;

  printf("%.17g\n", change(11));
  printf("%d\n", adapt(9.5));
  a = norm(2, 1);
  b = norm(0, a);
  printf("%.17g %.17g\n", a, b);
  printf("%d\n", find(20));
  printf("%.17g\n", odd(0.5, 7));
  printf("%.17g\n", jump(4));
}

int main(void)
{
  for (int i = 0; i < NY; i++)
    for (int j = 0; j < NX; j++) {
      u[i][j] = v[i][j] = (i * 7 + j * 3) % 11 * 0.1;
      w[i][j] = (float)(i % 5) * 0.25f;
    }
  all();
  show("u", u, sizeof u);
  show("v", v, sizeof v);
  show("w", w, sizeof w);
  return 0;
}
