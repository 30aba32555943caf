/* Flags that any cell may set, bits, truth values of all cells; layers of an edge, mirrored and round it, in a loop over layers; three arrays that take turns. */
#include <math.h>
#include <stdbool.h>

#include "show.h"

#define NG 2
#define NX 22
#define NY 17

typedef double plane[NY + 2 * NG][NX + 2 * NG];

static plane a, b, c;

#pragma ambit
static void edges(plane u)
{
  for (int g = 0; g < NG; g++)
    for (int i = 0; i < NX + 2 * NG; i++) {
      u[NG - 1 - g][i] = u[NG + g][i];
      u[NY + NG + g][i] = u[NY + NG - 1 - g][i];
    }
  for (int j = 0; j < NY + 2 * NG; j++)
    for (int g = 0; g < NG; g++) {
      u[j][g] = u[j][NX + g];
      u[j][NX + NG + g] = u[j][NG + g];
    }
}

#pragma ambit
static bool step(plane next, plane now, plane before, double tol)
{
  bool settled = true;
  int far = 7;

  for (int j = NG; j < NY + NG; j++)
    for (int i = NG; i < NX + NG; i++) {
      double d =
          0.1 *
          (16 * (now[j][i + 1] + now[j][i - 1]) - now[j][i + 2] - now[j][i - 2] - 30 * now[j][i]) /
          12;
      next[j][i] = now[j][i] + d + 0.01 * (now[j][i] - before[j][i]);
      if (fabs(d) > tol) settled = false;
      if (next[j][i] > 1e9) far = -3;
    }
  if (far != 7) printf("far %d\n", far);
  return settled;
}

typedef struct report {
  int any, bits;
  bool all;
} report;

#pragma ambit must
static void look(report *r, double tol)
{
  for (int j = 0; j < NY; j++)
    for (int i = 0; i < NX; i++) {
      r->any |= a[j][i] - b[j][i] > tol;
      r->all &= a[j][i] < 5 && b[j][i] < 5;
      if (b[j][i] > 3 * tol) r->bits |= 2;
      if (a[j][i] < tol) r->bits |= 8;
      if (a[j][i] < -1e9) r->bits |= 16;
    }
}

/* From values that are neither 0 nor 1, and over no cells. */
#pragma ambit must
static void judge(int any, int all, double tol)
{
  int none = 6, kept = 15, rows = NY;
  long flag = 2;

  for (int j = 0; j < rows; j++)
    for (int i = 0; i < NX; i++) {
      any = any || a[j][i] > tol;
      all = all && a[j][i] < tol;
      none &= !(a[j][i] > tol);
      if (a[j][i] > 1e9)
        kept &= ~4;
      else
        kept &= ~1;
      flag = (a[j][i] > tol) | flag;
    }
  printf("%d %d %d %d %ld\n", any, all, none, kept, flag);
  any = 6;
  for (int j = rows; j < NY; j++)
    for (int i = 0; i < NX; i++)
      any = any && a[j][i] > tol;
  printf("%d\n", any);
}

int main(void)
{
  report r = {4, 1, true};
  double(*u)[NX + 2 * NG] = a, (*v)[NX + 2 * NG] = b, (*w)[NX + 2 * NG] = c, (*t)[NX + 2 * NG];
  int n = 0;

  for (int j = 0; j < NY + 2 * NG; j++)
    for (int i = 0; i < NX + 2 * NG; i++)
      a[j][i] = b[j][i] = (i * 7 + j * 3) % 13;
  do {
    edges(v);
    n++;
    if (step(w, v, u, 0.05)) break;
    t = u;
    u = v;
    v = w;
    w = t;
  } while (n < 60);
#pragma ambit
  for (int s = 0; s < 10; s++) {
    for (int j = NG; j < NY + NG; j++)
      for (int i = NG; i < NX + NG; i++)
        w[j][i] = 2 * v[j][i] - u[j][i] + 0.1 * (v[j][i + 1] + v[j][i - 1] - 2 * v[j][i]);
    t = u;
    u = v;
    v = w;
    w = t;
  }
  printf("%d\n", n);
  for (double tol = 0; tol < 10; tol += 3) {
    look(&r, tol);
    printf("%d %d %d\n", r.any, r.bits, r.all);
    judge(3, 4, tol);
    judge(0, 1, tol);
    r.any = 0;
  }
  show("a", a, sizeof a);
  show("b", b, sizeof b);
  show("c", c, sizeof c);
  return 0;
}
