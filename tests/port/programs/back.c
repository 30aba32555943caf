/* New values that nests copy back, in the ways that people do it: the fields change places, and arrays keep what they had. */
#include <stdlib.h>
#include <string.h>

#include "show.h"

enum { NY = 19, NX = 23 };

static double u[NY][NX], v[NY][NX], older[NY][NX], w[NY][NX], edge[NY][NX];
static float a[NX], b[NX];

static void fill(void)
{
  for (int j = 0; j < NY; j++)
    for (int i = 0; i < NX; i++) {
      u[j][i] = (j * 7 + i * 3) % 11;
      v[j][i] = 100 + j; /* its edges are its own */
      older[j][i] = 0.25 * i;
      w[j][i] = -j;
      edge[j][i] = 0.5 * (i + j);
    }
}

/* Edges of both arrays stay; the host looks at either, or at none. */
#pragma ambit
static void relax(int steps, int look)
{
  for (int t = 0; t < steps; t++) {
    for (int j = 1; j < NY - 1; j++)
      for (int i = 1; i < NX - 1; i++)
        v[j][i] = 0.25 * (u[j - 1][i] + u[j + 1][i] + u[j][i - 1] + u[j][i + 1]);
    for (int j = 1; j < NY - 1; j++)
      for (int i = 1; i < NX - 1; i++)
        u[j][i] = v[j][i];
    if (look && t % 3 == 1) printf("%.17g %.17g\n", u[5][6], v[NY - 2][NX - 2]);
    if (look && t % 4 == 2) u[7][7] += 1;
    if (look && t % 5 == 3) v[3][0] -= 1;
  }
}

/* The copy is not the last step, edges are filled from it, and both arrays are read at edges. */
#pragma ambit
static void fill_edges(int steps)
{
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < NX - 1; i++) {
      u[0][i] = u[1][i];
      v[NY - 1][i] = 2 * u[NY - 2][i];
    }
    for (int j = 1; j < NY - 1; j++)
      for (int i = 1; i < NX - 1; i++)
        v[j][i] = u[j][i] + 0.1 * (u[j - 1][i] - v[j + 1][i]);
    for (int j = 1; j < NY - 1; j++)
      for (int i = 1; i < NX - 1; i++)
        u[j][i] = v[j][i];
    for (int j = 1; j < NY - 1; j++)
      u[j][0] = 0.5 * (u[j][1] + v[j][2]);
  }
}

/* Three levels in time: in one nest, and in two. */
#pragma ambit
static void levels(int steps, int at_once)
{
  for (int t = 0; t < steps; t++) {
    for (int j = 1; j < NY - 1; j++)
      for (int i = 1; i < NX - 1; i++)
        w[j][i] = 2 * u[j][i] - older[j][i] +
                  0.2 * (u[j - 1][i] + u[j + 1][i] + u[j][i - 1] + u[j][i + 1] - 4 * u[j][i]);
    if (at_once) {
      for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
          older[j][i] = u[j][i];
          u[j][i] = w[j][i];
        }
    } else {
      for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
          older[j][i] = u[j][i];
      for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
          u[j][i] = w[j][i];
    }
  }
}

/* The copy is read before it is overwritten, and its source changes first. */
#pragma ambit
static void keep(int steps)
{
  for (int t = 0; t < steps; t++) {
    for (int j = 0; j < NY; j++)
      for (int i = 0; i < NX; i++)
        older[j][i] = u[j][i];
    for (int j = 2; j < NY - 1; j++)
      for (int i = 1; i < NX - 2; i++)
        u[j][i] = 0.5 * (older[j - 1][i] + older[j][i + 1]);
    for (int j = 2; j < NY - 2; j++)
      for (int i = 3; i < NX - 2; i++)
        v[j][i] = older[j][i] - u[j][i];
  }
}

/* Several pairs, of other boxes; one that only some cells write. */
#pragma ambit
static void pairs(int steps)
{
  for (int t = 0; t < steps; t++) {
    for (int j = 2; j < NY - 2; j++)
      for (int i = 1; i < NX - 1; i++) {
        v[j][i] = u[j][i - 1] + 0.125 * edge[j][i];
        if (w[j][i] < u[j][i + 1]) w[j][i] = u[j][i + 1] - 1;
      }
    for (int j = 2; j < NY - 2; j++)
      for (int i = 1; i < NX - 1; i++) {
        u[j][i] = v[j][i];
        edge[j][i] = w[j][i];
      }
  }
}

/* Until it is small; rows with memcpy; one axis. */
#pragma ambit
static int settle(double tol)
{
  double most = 2 * tol;
  int n = 0;

  while (most > tol && n < 400) {
    most = 0;
    for (int j = 1; j < NY - 1; j++)
      for (int i = 1; i < NX - 1; i++) {
        const double x = 0.25 * (u[j - 1][i] + u[j + 1][i] + u[j][i - 1] + u[j][i + 1]);

        v[j][i] = x;
        if (x - u[j][i] > most) most = x - u[j][i];
        if (u[j][i] - x > most) most = u[j][i] - x;
      }
    for (int j = 1; j < NY - 1; j++)
      for (int i = 1; i < NX - 1; i++)
        u[j][i] = v[j][i];
    n++;
  }
  return n;
}

#pragma ambit
static void line(int steps)
{
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < NX - 1; i++)
      b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    if (t % 2) {
      b[0] = b[1];
      b[NX - 1] = 0;
      memcpy(a, b, sizeof a);
    } else
      for (int i = 1; i < NX - 1; i++)
        a[i] = b[i];
  }
}

static void show_all(const char *what)
{
  show(what, u, sizeof u);
  show("v", v, sizeof v);
  show("older", older, sizeof older);
  show("w", w, sizeof w);
  show("edge", edge, sizeof edge);
}

int main(void)
{
  fill();
  relax(7, 0);
  show_all("relax");
  relax(11, 1);
  show_all("relax and look");
  fill_edges(6);
  show_all("edges");
  levels(5, 1);
  levels(4, 0);
  show_all("levels");
  keep(6);
  show_all("keep");
  pairs(5);
  show_all("pairs");
  printf("%d\n", settle(1e-3));
  show_all("settle");
  for (int i = 0; i < NX; i++)
    a[i] = (float)(i % 5);
  line(9);
  show("a", a, sizeof a);
  show("b", b, sizeof b);
  return 0;
}
