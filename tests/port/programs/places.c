/* Results behind pointers, in structs and in arrays; a time loop that writes an element for each step. */
#include "show.h"
#include <math.h>
#include <stdlib.h>

typedef struct stats {
  double sum, biggest;
  int n;
} stats;
typedef struct grid {
  int nx, ny;
  double *u, *v;
  stats st;
} grid;

static void norm(const double *u, int n, double *res, double *top)
{
  *res = 0;
  *top = 0;
  for (int i = 0; i < n; i++) {
    *res += u[i] * u[i];
    if (fabs(u[i]) > *top) *top = fabs(u[i]);
  }
}

static void sweep(grid *g, double history[], int t)
{
  double *swap = g->u;

  g->st.sum = 0;
  for (int j = 1; j < g->ny - 1; j++)
    for (int i = 1; i < g->nx - 1; i++) {
      const double r = 0.25 * (g->u[j * g->nx + i - 1] + g->u[j * g->nx + i + 1] +
                               g->u[(j - 1) * g->nx + i] + g->u[(j + 1) * g->nx + i]);

      g->v[j * g->nx + i] = r;
      g->st.sum += r;
      g->st.biggest = fmax(g->st.biggest, r);
      if (r > 1) g->st.n++;
      history[t] += r * r;
    }
  g->u = g->v;
  g->v = swap;
}

int main(void)
{
  grid g = {15, 12, malloc(15 * 12 * 8), malloc(15 * 12 * 8), {0, -1, 0}};
  double history[4] = {0}, probe[4], all, top;

  for (int i = 0; i < 180; i++)
    g.u[i] = g.v[i] = i * 7 % 11;
#pragma ambit must
  for (int t = 0; t < 4; t++) {
    sweep(&g, history, t);
    norm(g.u, 180, &all, &top);
    printf("%.17g %.17g %.17g %.17g %d\n", all, top, g.st.sum, g.st.biggest, g.st.n);
    for (int k = 0; k < 180; k++)
      g.u[k] *= 0.99;
    probe[t] = g.u[33];
  }
  show("u", g.u, 180 * 8);
  show("history", history, sizeof history);
  show("probe", probe, sizeof probe);
  return 0;
}
